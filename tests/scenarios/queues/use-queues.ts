import assert from 'node:assert/strict';
import { type Client, createClient } from '../../harness/clients/client.ts';
import { file, multipart } from '../../harness/clients/multipart.ts';
import { createWebhook, webhooksPath } from '../../harness/clients/webhook.ts';
import { eventually } from '../../harness/eventually.ts';
import { textAt } from '../../harness/json.ts';
import type { MailServer } from '../../harness/servers/mail-server.ts';
import type { Receiver } from '../../harness/servers/receiver.ts';
import { inDatabase } from '../../harness/stacks/in-database.ts';
import type { Stack } from '../../harness/stacks/stack.ts';
import { ask, createCollections, jobIn } from '../extension-jobs/jobs-ground.ts';
import { ended, imported, linesOf } from '../import-jobs.ts';
import { configure, deliver, takenMail } from '../inbound-mails/mail-ground.ts';
import { postmarkMail, postmarkPassword } from '../inbound-mails/requests.ts';

/** The stack with the extensions in `tests/extensions/jobs` and `mailing`, and where its webhooks and mails go. */
interface Ends {
  readonly stack: Stack;
  readonly receiver: Receiver;
  readonly mails: MailServer;
}

const papers = 'queued_papers';
const readers = 'queued_readers';
const webhookKinds = {
  plain: {},
  ordered: { ordering: 'record' },
  batched: { batch: { max: 10, wait_ms: 50 } },
};

/** Creates what `useQueues` uses. */
export async function prepareQueues({ stack, receiver, mails }: Ends): Promise<void> {
  const admin = await stack.admin();
  await createCollections(admin);
  const fields = [
    { name: 'title', type: 'text' },
    { name: 'scan', type: 'file' },
  ];
  await admin.define(papers, fields);
  await admin.post('/api/v1/collections', { name: readers, type: 'auth' });
  await admin.patch('/api/v1/admin/settings', mails.settings);
  await configure(admin, stack.guest);
  const events = [`${papers}.create`];
  for (const [kind, members] of Object.entries(webhookKinds))
    await createWebhook(admin, `${receiver.url}/${kind}`, events, members);
  await admin.post(webhooksPath, { name: 'Read', type: 'poll', events });
}

/** Lets something pass through each queue, and waits for its end. `round` names what is made. */
export async function useQueues({ stack, receiver, mails }: Ends, round: string): Promise<void> {
  const admin = await stack.admin();
  const { guest } = stack;
  await Promise.all([
    sendEvent(guest, receiver, round),
    runJobs(admin, guest, round),
    useAccount(stack, mails, round),
    sendMessage(guest, mails, round),
    takeMail(guest, round),
    imported(admin, papers, { format: 'ndjson' }, linesOf([{ title: `imported ${round}` }])),
    removeFile(stack),
    runCron(stack),
  ]);
}

async function sendEvent(guest: Client, receiver: Receiver, round: string): Promise<void> {
  const body = { title: `sent ${round}` };
  const headers = { 'Idempotency-Key': `queued ${round}` };
  const { status, text } = await guest.send('POST', `/api/v1/${papers}`, { body, headers });
  assert.equal(status, 201, text);
  for (const kind of Object.keys(webhookKinds))
    await eventually(`the ${kind} delivery arrives`, () =>
      receiver.deliveries.some((one) => one.path.endsWith(kind) && one.text.includes(body.title)),
    );
}

async function runJobs(admin: Client, guest: Client, round: string): Promise<void> {
  const name = `queued ${round}`;
  const done = [
    await ask(guest, 'work.note', { name }),
    await ask(guest, 'work.note', { name }, { in_s: 1 }),
    await ask(guest, 'work.keyed', { name }),
    await ask(guest, 'work.ordered', { name }),
  ];
  const dead = await ask(guest, 'work.throws', { name });
  for (const id of done) await jobIn(admin, id, 'done');
  await jobIn(admin, dead, 'dead');
}

/** Signs up, asks for a mail and for an export. */
async function useAccount({ guest, url }: Stack, mails: MailServer, round: string): Promise<void> {
  const path = `/api/v1/auth/${readers}`;
  const email = `queued.${round}@example.com`;
  const session = await guest.post(`${path}/register`, { email, password: 'a long and winding password' });
  await eventually('the mail arrives', async () => {
    // Before the service has the mail server's settings, it sends none.
    await guest.send('POST', `${path}/request-password-reset`, { body: { email } });
    return mails.received.some(({ recipients }) => recipients.includes(email));
  });
  const user = createClient(url, textAt(session, 'token'));
  const asked = await user.get(`${path}/export`);
  assert.equal(asked.status, 202, asked.text);
  assert.equal((await ended(user, textAt(asked.json, 'data.id'))).state, 'done');
}

async function sendMessage(guest: Client, mails: MailServer, round: string): Promise<void> {
  const to = `sent.${round}@example.com`;
  await guest.post('/api/x/mails', { to, subject: round, text: round }, 200);
  await eventually('the message arrives', () => mails.received.some(({ recipients }) => recipients.includes(to)));
}

async function takeMail(guest: Client, round: string): Promise<void> {
  const subject = `taken ${round}`;
  const { status, text } = await deliver(guest, 'postmark', { body: postmarkMail(subject), headers: postmarkPassword });
  assert.equal(status, 200, text);
  await takenMail(guest, subject);
}

async function removeFile({ ground, guest }: Stack): Promise<void> {
  const { status, json, text } = await guest.send('POST', `/api/v1/${papers}`, multipart(file('scan', 'a.txt', 'a')));
  assert.equal(status, 201, text);
  const id = textAt(json, 'data.id');
  await guest.delete(`/api/v1/${papers}/${id}`);
  await eventually('the file is gone', async () => {
    const listed = `select from system.file_removals where collection_id =
      (select id from system.collections where name = $1) and record_id = $2`;
    return (await inDatabase(ground, listed, [papers, id])).length === 0;
  });
}

async function runCron({ ground, admin }: Stack): Promise<void> {
  const run = await (await admin()).post('/api/v1/admin/crons/work.asks/run', {}, 202);
  await eventually('the cron has run', async () => {
    const rows = await inDatabase(ground, "select from system.cron_runs where id = $1 and status = 'success'", [
      run.id,
    ]);
    return rows.length > 0;
  });
}
