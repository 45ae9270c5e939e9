import assert from 'node:assert/strict';
import type { Client } from '../../harness/clients/client.ts';
import { eventually } from '../../harness/eventually.ts';
import { at, textAt } from '../../harness/json.ts';
import { inDatabase } from '../../harness/stacks/in-database.ts';
import { ended, linesOf, sendImport } from '../../scenarios/import-jobs.ts';
import { deliver } from '../../scenarios/inbound-mails/mail-ground.ts';
import { postmarkMail, postmarkPassword } from '../../scenarios/inbound-mails/requests.ts';

/** What is planted in each place that has something about the person, and looked for after the erasure. */
export const marker = 'Kontrabassklarinette';
/** The mail server refuses it for now, always: its mails wait. */
export const email = `busy-${marker}@example.com`.toLowerCase();

/** Creates the person's collection, and one with what refers to them. */
export async function define(admin: Client): Promise<void> {
  await admin.post('/api/v1/collections', {
    name: 'everywhere_people',
    type: 'auth',
    fields: [{ name: 'full_name', type: 'text' }],
    view_rule: 'id = @request.auth.id',
    history_enabled: true,
  });
  await admin.post('/api/v1/collections', {
    name: 'everywhere_reports',
    fields: [
      { name: 'text', type: 'text' },
      { name: 'person', type: 'relation', collection: 'everywhere_people', options: { cascade: 'cascade' } },
      { name: 'scan', type: 'file', options: { thumbs: ['20x20'] } },
      { name: 'likeness', type: 'vector', options: { dimensions: 2 } },
    ],
    history_enabled: true,
  });
  const index = { name: 'words', type: 'search', fields: [{ field: 'text' }], language: 'english' };
  await admin.post('/api/v1/admin/collections/everywhere_reports/indexes', index);
}

/** Adds a passkey, a link to a provider and a session's device, and proves the address. */
export async function plantWaysIn(databaseUrl: string, id: string): Promise<void> {
  const [collection] = await inDatabase(
    { databaseUrl },
    "select id from system.collections where name = 'everywhere_people'",
    [],
  );
  for (const text of [
    `insert into system.oauth_links (collection_id, provider, provider_user_id, account_id, created_at, issuer, subject)
      values ($1, 'github', $3, $2, 1700000000, 'https://issuer.example', $3)`,
    `insert into system.passkeys (id, collection_id, account_id, credential_id, public_key, user_handle, sign_count, is_copyable,
        is_copied, name, created_at)
      values ('passkey-everywhere', $1, $2, 'credential', 'key', 'handle', 0, true, false, $3, 1700000000)`,
    'update system.sessions set user_agent = $3 where collection_id = $1 and account_id = $2',
  ])
    await inDatabase({ databaseUrl }, text, [collection?.id, id, marker]);
  await inDatabase({ databaseUrl }, 'update records.everywhere_people set verified = true where id = $1', [id]);
}

/** Posts a mail from the person, which the extension's hook refuses. */
export async function plantMailIn(guest: Client): Promise<void> {
  const attachment = {
    Name: `${marker}.txt`,
    Content: Buffer.from(marker).toString('base64'),
    ContentType: 'text/plain',
  };
  const mail = postmarkMail(`${marker} writes`, {
    From: email,
    FromFull: { Email: email, Name: marker, MailboxHash: '' },
    TextBody: `I am ${marker}`,
    Attachments: [{ ...attachment, ContentLength: marker.length }],
  });
  const { status, text } = await deliver(guest, 'postmark', { body: mail, headers: postmarkPassword });
  assert.equal(status, 200, text);
}

/** Imports a row with the report's id that is refused. */
export async function plantImport(admin: Client, report: string, person: string): Promise<void> {
  const sent = await sendImport(
    admin,
    'everywhere_reports',
    { format: 'ndjson' },
    linesOf([{ id: report, text: marker, person, likeness: marker }]),
  );
  const job = await ended(admin, textAt(sent.json, 'data.id'));
  assert.equal(at(job, 'rows.refused'), 1, JSON.stringify(job));
}

/** Lets a job and a cron fail with errors that name the person. */
export async function plantFailures(admin: Client, guest: Client, person: string): Promise<void> {
  const input = { person, text: marker };
  const { id } = await guest.post('/api/x/kept/jobs', { job: 'keeper.breaks', input }, 200);
  await eventually('the job is dead', async () => {
    const { json } = await admin.get(`/api/v1/admin/extension-jobs/${id}`);
    return at(json, 'data.state') === 'dead' && textAt(json, 'data.error').includes(marker);
  });
  const run = await admin.post('/api/v1/admin/crons/keeper.greets/run', {}, 202);
  await eventually('the cron has failed', async () => {
    const { text } = await admin.get('/api/v1/admin/crons/keeper.greets/runs');
    return text.includes(String(run.id)) && text.includes(marker);
  });
}
