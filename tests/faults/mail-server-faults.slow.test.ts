import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { after, test } from 'node:test';
import type { Client } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { listAt, textAt } from '../harness/json.ts';
import { startCutProxy } from '../harness/network/cut-proxy.ts';
import { endChild } from '../harness/processes/child.ts';
import { type MailServer, startMailServer } from '../harness/servers/mail-server.ts';
import { inDatabase } from '../harness/stacks/in-database.ts';
import { createGround, type Ground, startStack } from '../harness/stacks/stack.ts';
import { copyExtensions } from '../scenarios/extensions/extensions-directory.ts';

/** Its route sends any mail. */
const directory = copyExtensions('mailing');
after(() => rmSync(directory, { recursive: true }));
const environment = { SERVICE_EXTENSIONS_DIR: directory };

const auth = '/api/v1/auth/correspondents';

const send = (client: Client, to: string | readonly string[], more: object = {}) =>
  client.send('POST', '/api/x/mails', { body: { to, subject: 'Hello', text: 'A text', ...more } });

/** Sends mails until one is taken: each replica follows the settings within a second. */
const untilConfigured = (client: Client) =>
  eventually('mail is configured', async () => (await send(client, 'probe@example.com')).status === 200);

const rowOf = async (admin: Client, to: string) =>
  listAt((await admin.get(`/api/v1/admin/mails?to=${to}`)).json, 'data')[0];

/** Waits for a mail's end and returns its row in the log. */
const ended = (admin: Client, to: string) =>
  eventually(`the mail to ${to} ends`, async () => {
    const row = await rowOf(admin, to);
    return row?.finished != null && row;
  });

/** Waits until a mail still waits after so many attempts, and returns its row in the log. */
const waits = (admin: Client, to: string, attempts: number) =>
  eventually(`attempt ${attempts} for ${to} has failed`, async () => {
    const row = await rowOf(admin, to);
    return row?.state === 'waiting' && Number(row.attempts) >= attempts && row;
  });

/** Lets an interval pass for all waiting mails: each time is so much earlier. */
const pass = (ground: Ground, interval: string) =>
  inDatabase(
    ground,
    `update system.mail_queue set next_attempt_at = next_attempt_at - $1::interval, created_at = created_at - $1::interval,
      expires_at = expires_at - $1::interval, lease_until = lease_until - $1::interval`,
    [interval],
  );

const mailsTo = ({ received }: MailServer, to: string) => received.filter(({ recipients }) => recipients.includes(to));

test('a mail server with faults, and two replicas', async (t) => {
  await using ground = await createGround();
  await using first = await startStack({ topology: 'one', ground, environment });
  await using second = await startStack({ topology: 'one', beside: ground, environment });
  await using server = await startMailServer();
  await using network = await startCutProxy(`smtp://127.0.0.1:${server.port}`);
  const admin = await first.admin();
  await admin.post('/api/v1/collections', { name: 'correspondents', type: 'auth' });
  await admin.patch('/api/v1/admin/settings', { ...server.settings, 'smtp.port': String(network.port) });
  for (const replica of [first, second]) await untilConfigured(replica.guest);

  await t.test('each of many mails arrives once [mail §3.2]', async () => {
    const people = Array.from({ length: 60 }, (_, index) => `many${index}@example.com`);
    // Each recipient gets a mail of its own.
    const answers = await Promise.all([send(first.guest, people.slice(0, 30)), send(second.guest, people.slice(30))]);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200],
    );
    for (const to of people) assert.equal((await ended(admin, to)).state, 'sent');
    const recipients = server.received.flatMap((mail) => mail.recipients).filter((to) => to.startsWith('many'));
    assert.deepEqual(recipients.toSorted(), people.toSorted());
  });

  await t.test('a server that stops within the dialogue gets the mail again [mail §3.3]', async () => {
    for (const to of ['stall@example.com', 'held@example.com']) await send(first.guest, to);
    for (const to of ['stall@example.com', 'held@example.com']) {
      const { state, attempts, last_error } = await ended(admin, to);
      assert.deepEqual({ state, last_error }, { state: 'sent', last_error: null });
      assert.ok(Number(attempts) >= 2, `${to}: ${attempts}`);
    }
    assert.equal(mailsTo(server, 'stall@example.com').length, 1);
    // The server had the mail before it fell silent. Its id lets a mailbox tell.
    const ids = mailsTo(server, 'held@example.com').map(({ email }) => email.messageId);
    assert.ok(ids.length >= 2, String(ids));
    assert.equal(new Set(ids).size, 1);
  });

  await t.test(
    'a mail that is refused for now goes, one that is refused for good is never tried again [mail §3.4]',
    async () => {
      await Promise.all(['refuse@example.com', 'later@example.com'].map((to) => send(second.guest, to)));
      const refused = await ended(admin, 'refuse@example.com');
      assert.deepEqual([refused.state, refused.attempts, refused.last_error], ['dead', 1, '550 no such user here']);
      const later = await ended(admin, 'later@example.com');
      assert.deepEqual([later.state, later.attempts, later.last_error], ['sent', 2, null]);
      await pass(ground, '12 hours');
      assert.equal(server.asked.filter((to) => to === 'refuse@example.com').length, 1);
      assert.deepEqual(
        await inDatabase(ground, 'select from system.mail_queue where recipient like $1', ['refuse%']),
        [],
      );
      await eventually('what ended mails said is deleted', async () => {
        const contents = await inDatabase(ground, 'select from system.mail_contents', []);
        return contents.length === 0;
      });
    },
  );

  await t.test(
    'a server that is away for an hour gets each mail once, and no link that has ended [mail §3.3]',
    async () => {
      network.cut();
      const password = 'a long and winding password';
      const registered = await first.guest.send('POST', `${auth}/register`, {
        body: { email: 'away.link@example.com', password },
      });
      assert.equal(registered.status, 201);
      await waits(admin, 'away.link@example.com', 1);
      const reset = await second.guest.send('POST', `${auth}/request-password-reset`, {
        body: { email: 'away.link@example.com' },
      });
      assert.equal(reset.status, 200);
      await send(second.guest, 'away@example.com');
      const { last_error: lastError } = await waits(admin, 'away@example.com', 1);
      assert.match(String(lastError), /\w/);
      const logOf = async (template: string) =>
        listAt((await admin.get(`/api/v1/admin/mails?to=away.link@example.com&template=${template}`)).json, 'data')[0];
      await eventually('the reset has failed once', async () => Number((await logOf('reset'))?.attempts) >= 1);
      for (const halfHour of ['30 minutes', '30 minutes']) {
        const before = Number((await rowOf(admin, 'away@example.com'))?.attempts);
        await pass(ground, halfHour);
        await waits(admin, 'away@example.com', before + 1);
      }
      const dead = await eventually('the link for the reset has ended', async () => {
        const row = await logOf('reset');
        return row?.state === 'dead' && row;
      });
      assert.match(String(dead.last_error), /\w/);
      network.restore();
      await pass(ground, '30 minutes');
      assert.equal((await ended(admin, 'away@example.com')).state, 'sent');
      await eventually('the other mail is sent', async () => (await logOf('verify'))?.state === 'sent');
      assert.equal(mailsTo(server, 'away@example.com').length, 1);
      assert.deepEqual(
        mailsTo(server, 'away.link@example.com').map(({ email }) => email.subject),
        ['Verify your email'],
      );
    },
  );

  await t.test('a server that is away for a day: the mail is dead, and says why [mail §3.4]', async () => {
    network.cut();
    await send(first.guest, 'gone@example.com');
    await waits(admin, 'gone@example.com', 1);
    await pass(ground, '25 hours');
    const { state, last_error: lastError } = await ended(admin, 'gone@example.com');
    assert.equal(state, 'dead');
    assert.notEqual(lastError, null);
    network.restore();
    await send(first.guest, 'back@example.com');
    await eventually('later mails go', async () => {
      await pass(ground, '1 hour');
      return mailsTo(server, 'back@example.com').length > 0;
    });
    assert.deepEqual(mailsTo(server, 'gone@example.com'), []);
  });

  await t.test("nothing that a caller writes into a mail's head begins a header [mail §2.6]", async () => {
    const attack = 'Hello\\r\\nBcc: eve@example.com\\r\\n\\r\\nanother body\\u2028x';
    const shaped = JSON.parse(`"${attack}"`) as string;
    assert.equal((await send(first.guest, 'shaped@example.com', { subject: shaped })).status, 200);
    const mail = await server.mailTo('shaped@example.com');
    assert.equal(mail.email.subject, 'Hello Bcc: eve@example.com another body x');
    assert.deepEqual(mail.recipients, ['shaped@example.com']);
    assert.doesNotMatch(mail.raw, /^bcc:/im);
    for (const more of [
      { reply_to: `${shaped} <a@example.com>` },
      { cc: `${shaped} <a@example.com>` },
      { headers: { 'X-Shaped': shaped } },
      { attachments: [{ name: shaped, type: 'text/plain', content: 'x' }] },
    ])
      assert.equal((await send(first.guest, 'never@example.com', more)).status, 422, JSON.stringify(more));
    assert.equal(await rowOf(admin, 'never@example.com'), undefined);
    assert.deepEqual(
      server.asked.filter((to) => to === 'eve@example.com'),
      [],
    );
  });
});

test('a mail whose process is killed after the server took it arrives again, with the same id [mail §3.2]', async () => {
  await using ground = await createGround();
  await using tidying = new AsyncDisposableStack();
  await using server = await startMailServer();
  const start = () => startStack({ topology: 'one', ground, environment });
  let stack = await start();
  tidying.defer(() => stack.stop());
  const admin = await stack.admin();
  await admin.patch('/api/v1/admin/settings', server.settings);
  await untilConfigured(stack.guest);
  const to = 'held@example.com';
  const messageId = textAt((await send(stack.guest, to)).json, 'data.message_id');
  await server.mailTo(to);
  await endChild(stack.process, 'SIGKILL');
  stack = await start();
  const again = await stack.admin();
  // The dead process has the mail under a lease.
  await pass(ground, '2 minutes');
  const { state, last_error } = await ended(again, to);
  assert.deepEqual({ state, last_error }, { state: 'sent', last_error: null });
  const ids = mailsTo(server, to).map(({ email }) => email.messageId);
  assert.ok(ids.length >= 2, String(ids));
  assert.deepEqual([...new Set(ids)], [messageId]);
});
