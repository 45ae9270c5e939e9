import assert from 'node:assert/strict';
import { createClient } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at, listAt, textAt } from '../harness/json.ts';
import { startMailServer } from '../harness/servers/mail-server.ts';
import { inDatabase } from '../harness/stacks/in-database.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { erased } from './erasures.ts';

const password = 'a long and winding password';
const word = 'hereabouts';
const own = 'id = @request.auth.id';

onEachTopology('an erasure takes nothing of a record that has the same id [privacy §2.1]', async (t, target) => {
  if (target.databaseUrl === undefined) return;
  await using server = await startMailServer();
  const admin = await target.admin();
  await admin.patch('/api/v1/admin/settings', server.settings);
  for (const name of ['homonym_members', 'homonym_guests'])
    await admin.post('/api/v1/collections', { name, type: 'auth', view_rule: own, delete_rule: own });
  await admin.post('/api/v1/collections', { name: 'homonym_pages', fields: [] });
  await admin.post('/api/v1/collections', {
    name: 'homonym_notes',
    fields: [
      { name: 'text', type: 'text' },
      { name: 'owner', type: 'relation', collection: 'homonym_members' },
    ],
    create_rule: null,
  });
  const email = 'homonym@example.com';
  const session = await target.guest.post('/api/v1/auth/homonym_members/register', { email, password });
  const id = textAt(session, 'record.id');
  const member = createClient(target.url, textAt(session, 'token'));
  await member.get(`/api/v1/homonym_members/${id}`);
  await admin.send('POST', `/api/v1/admin/impersonate/homonym_members/${id}`, { body: {} });
  const body = { text: word, owner: id };
  const headers = { 'Idempotency-Key': 'homonym-1' };
  const first = await admin.send('POST', '/api/v1/homonym_notes', { body, headers });
  assert.equal(first.status, 201, first.text);
  const put = async (path: string, sent: object) => {
    const answer = await admin.send('PUT', path, { body: sent });
    assert.equal(answer.status, 201, answer.text);
  };

  const counts = async () => {
    const [row] = await inDatabase(
      target,
      `select (select count(*) from system.requests where principal_id = $1)::integer as requests,
        (select count(*) from system.audit where target_id = $1)::integer as audit,
        (select count(*) from system.mails where lower(recipient) = $2 and finished_at is not null)::integer as mails`,
      [id, email],
    );
    return row;
  };
  const isTraced = (row: Awaited<ReturnType<typeof counts>>) =>
    Number(row?.requests) >= 1 && Number(row?.audit) >= 1 && Number(row?.mails) >= 1;
  await eventually('mail is enabled', async () => {
    const asked = await member.send('POST', '/api/v1/auth/homonym_members/request-verify', { body: {} });
    return asked.status === 200;
  });
  await eventually('the member left traces', async () => {
    const row = await counts();
    if (!isTraced(row)) throw new Error(JSON.stringify(row));
    return true;
  });
  const repeated = async () => (await admin.send('POST', '/api/v1/homonym_notes', { body, headers })).json;

  await t.test('of another collection', async () => {
    await put(`/api/v1/homonym_pages/${id}`, {});
    await erased(admin, 'homonym_pages', id);
    assert.ok(isTraced(await counts()), JSON.stringify(await counts()));
    assert.deepEqual(await repeated(), first.json);
  });

  await t.test('or its address', async () => {
    const guest = await admin.create('homonym_guests', { email, password });
    await erased(admin, 'homonym_guests', guest.id);
    assert.ok(isTraced(await counts()), JSON.stringify(await counts()));
  });

  await t.test('or that has its id as a word', async () => {
    await put(`/api/v1/homonym_notes/${word}`, { text: 'a word as an id' });
    await erased(admin, 'homonym_notes', word);
    assert.deepEqual(await repeated(), first.json);
  });

  await t.test('or that registered its address and did not prove it', async () => {
    const address = 'homonym-former@example.com';
    const register = () => target.guest.post('/api/v1/auth/homonym_members/register', { email: address, password });
    const former = await register();
    const asking = createClient(target.url, textAt(former, 'token'));
    const asked = await asking.send('POST', '/api/v1/auth/homonym_members/request-verify', { body: {} });
    assert.equal(asked.status, 200, asked.text);
    const formerId = textAt(former, 'record.id');
    /** Whose mails to the address are in the log. */
    const mailed = async () => {
      const rows = await inDatabase(
        target,
        'select distinct record_id from system.mails where recipient = $1 and finished_at is not null',
        [address],
      );
      return rows.map(({ record_id }) => record_id);
    };
    await eventually('its mail is sent', async () => (await mailed()).includes(formerId));
    await admin.delete(`/api/v1/homonym_members/${formerId}`);
    const stranger = await register();
    const strangerId = textAt(stranger, 'record.id');
    const leaving = createClient(target.url, textAt(stranger, 'token'));
    await leaving.delete(`/api/v1/homonym_members/${strangerId}`);
    await eventually('the stranger is erased', async () => {
      const { json } = await admin.get('/api/v1/jobs?collection=homonym_members&perPage=100');
      const job = listAt(json, 'data').find((one) => at(one, 'options.id') === strangerId);
      return job?.state === 'done';
    });
    assert.deepEqual(await mailed(), [formerId]);
  });

  await t.test('its own erasure takes all of it', async () => {
    await erased(admin, 'homonym_members', id);
    assert.deepEqual(await counts(), { requests: 0, audit: 0, mails: 0 });
    assert.equal(at(await repeated(), 'data'), null);
  });
});
