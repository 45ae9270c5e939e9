import assert from 'node:assert/strict';
import { createClient } from '../harness/clients/client.ts';
import { createWebhook, deliveriesOf } from '../harness/clients/webhook.ts';
import { eventually } from '../harness/eventually.ts';
import { at, listAt, numberAt, textAt } from '../harness/json.ts';
import { startReceiver } from '../harness/servers/receiver.ts';
import { inDatabase } from '../harness/stacks/in-database.ts';
import { onEachTopology, type Target } from '../harness/stacks/target.ts';
import { tablesWith } from './erasures.ts';
import { png, upload } from './file-forms.ts';
import { ended } from './import-jobs.ts';

const marker = 'Querflinten';
const password = 'a long and winding password';

async function signUp({ guest, url }: Target, collection: string, name: string) {
  const body = { email: `${name}@example.com`.toLowerCase(), password };
  const session = await guest.post(`/api/v1/auth/${collection}/register`, body);
  const token = textAt(session, 'token');
  return { id: textAt(session, 'record.id'), email: body.email, token, client: createClient(url, token) };
}

/** The erasures of a collection's accounts that deleted themselves. */
async function erasuresOf({ admin }: Target, collection: string) {
  const client = await admin();
  const { json } = await client.get(`/api/v1/jobs?collection=${collection}&perPage=100`);
  return { client, jobs: listAt(json, 'data').filter(({ kind }) => kind === 'erase') };
}

/** Waits until the only erasure in a collection has ended. Returns the job. */
async function onlyErasure(target: Target, collection: string) {
  const { client, jobs } = await erasuresOf(target, collection);
  assert.equal(jobs.length, 1, JSON.stringify(jobs));
  const job = await ended(client, textAt(jobs[0], 'id'));
  assert.equal(job.state, 'done', JSON.stringify(job.error));
  return job;
}

const relation = (collection: string, cascade: string) => ({
  name: 'owner',
  type: 'relation',
  collection,
  options: { cascade },
});

onEachTopology('a user who deletes the own account is erased [privacy §2.8]', async (t, target) => {
  await using receiver = await startReceiver();
  const admin = await target.admin();
  await admin.post('/api/v1/collections', {
    name: 'leavers',
    type: 'auth',
    fields: [{ name: 'full_name', type: 'text' }],
    update_rule: 'id = @request.auth.id',
    delete_rule: 'id = @request.auth.id',
    history_enabled: true,
  });
  await admin.post('/api/v1/collections', {
    name: 'leaver_papers',
    fields: [{ name: 'text', type: 'text' }, { name: 'scan', type: 'file' }, relation('leavers', 'cascade')],
    history_enabled: true,
  });
  const hook = await createWebhook(admin, receiver.url, ['leavers.*', 'leaver_papers.*']);
  const poll = await admin.post('/api/v1/admin/webhooks', { name: 'read', type: 'poll', events: ['leavers.*'] });
  const person = await signUp(target, 'leavers', marker);
  await person.client.patch(`/api/v1/leavers/${person.id}`, { full_name: marker });
  await upload(
    admin,
    '/api/v1/leaver_papers',
    { name: 'text', content: marker },
    { name: 'owner', content: person.id },
    { name: 'scan', filename: `${marker}.png`, type: 'image/png', content: png },
  );
  const exported = await person.client.get('/api/v1/auth/leavers/export');
  const archive = textAt(at(exported.json, 'data'), 'id');
  await ended(person.client, archive);
  await eventually('deliveries were made', async () => {
    const [sent, kept] = [await deliveriesOf(admin, hook.id), await deliveriesOf(admin, poll.id)];
    return sent.filter(({ status }) => status === 'success').length >= 3 && kept.length >= 2;
  });

  await t.test('two deletes at once: one deletes, and there is one erasure', async () => {
    const path = `/api/v1/leavers/${person.id}`;
    const answers = await Promise.all([1, 2].map(() => person.client.send('DELETE', path)));
    const statuses = answers.map(({ status }) => status).sort();
    assert.ok(statuses[0] === 200 && (statuses[1] === 404 || statuses[1] === 401), JSON.stringify(statuses));
    const job = await onlyErasure(target, 'leavers');
    assert.deepEqual(job.owner, { type: 'user', id: person.id });
    assert.equal(at(job, 'certificate.records'), 2);
    assert.equal(at(job, 'certificate.files'), 1);
    assert.ok(numberAt(job, 'certificate.events') >= 3, JSON.stringify(job));
  });

  await t.test('nothing names the person afterwards', async () => {
    assert.equal((await admin.get(`/api/v1/jobs/${archive}`)).status, 404);
    if (target.databaseUrl === undefined) return;
    await eventually(
      'no table has the marker',
      async () => {
        const found = await tablesWith(target, marker);
        if (found.length > 0) throw new Error(found.join(', '));
        return true;
      },
      { timeoutMs: 300_000 },
    );
  });

  await t.test('the delete events have the ids only', async () => {
    const deletes = await eventually('both have come', () => {
      const found = receiver.deliveries.filter(({ json }) => String(json.event).endsWith('.delete'));
      return found.length >= 2 ? found : undefined;
    });
    for (const { json } of deletes) assert.deepEqual(Object.keys(Object(at(json, 'data.record'))), ['id']);
  });
});

onEachTopology('which deletes of accounts are erasures [privacy §2.8]', async (t, target) => {
  await using receiver = await startReceiver();
  const admin = await target.admin();
  await admin.post('/api/v1/collections', {
    name: 'quitters',
    type: 'auth',
    fields: [{ name: 'full_name', type: 'text' }],
    delete_rule: '@request.auth.id != null',
    history_enabled: true,
  });
  const notes = [{ name: 'text', type: 'text' }, relation('quitters', 'restrict')];
  await admin.post('/api/v1/collections', { name: 'quitter_notes', fields: notes, history_enabled: true });
  await createWebhook(admin, receiver.url, ['quitter_notes.delete']);
  const erasedIds = async () => (await erasuresOf(target, 'quitters')).jobs.map((job) => at(job, 'options.id'));
  const versions = async (collection: string, id: string) => {
    const { status, json } = await admin.get(`/api/v1/${collection}/${id}/history`);
    return status === 404 ? 0 : listAt(json, 'data.data').length;
  };

  await t.test("an admin's, and another user's, are none", async () => {
    const [one, two, three] = [
      await signUp(target, 'quitters', 'quit1'),
      await signUp(target, 'quitters', 'quit2'),
      await signUp(target, 'quitters', 'quit3'),
    ];
    await admin.delete(`/api/v1/quitters/${one.id}`);
    await three.client.delete(`/api/v1/quitters/${two.id}`);
    assert.deepEqual(await erasedIds(), []);
    for (const { id } of [one, two]) assert.equal(await versions('quitters', id), 2);
  });

  await t.test('a delete that is refused is none', async () => {
    const { id, client } = await signUp(target, 'quitters', 'quit4');
    await admin.create('quitter_notes', { owner: id });
    assert.equal((await client.send('DELETE', `/api/v1/quitters/${id}`)).status, 409);
    assert.deepEqual(await erasedIds(), []);
    assert.equal((await admin.get(`/api/v1/quitters/${id}`)).status, 200);
  });

  await t.test('in a batch, only the account is erased', async () => {
    const { id, client } = await signUp(target, 'quitters', 'quit5');
    const note = await admin.create('quitter_notes', { text: 'of the house', owner: id });
    const operations = [
      { op: 'delete', collection: 'quitter_notes', id: note.id },
      { op: 'delete', collection: 'quitters', id },
    ];
    const answer = await client.send('POST', '/api/v1/batch', { body: { operations } });
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(await erasedIds(), [id]);
    await onlyErasure(target, 'quitters');
    assert.equal(await versions('quitter_notes', note.id), 2);
    assert.equal(await versions('quitters', id), 0);
    await eventually('the note was announced with its text', () =>
      receiver.deliveries.some(({ json }) => at(json, 'data.record.text') === 'of the house'),
    );
  });

  await t.test('so is the own account that another record takes along, with all that goes', async () => {
    await admin.post('/api/v1/collections', {
      name: 'quitter_firms',
      fields: [{ name: 'name', type: 'text' }],
      delete_rule: '@request.auth.id != null',
      history_enabled: true,
    });
    const firm = { name: 'firm', type: 'relation', collection: 'quitter_firms', options: { cascade: 'cascade' } };
    await admin.post('/api/v1/collections/quitters/fields', firm);
    const [owner, other] = [await signUp(target, 'quitters', 'quit10'), await signUp(target, 'quitters', 'quit11')];
    const [owned, others] = [await admin.create('quitter_firms', {}), await admin.create('quitter_firms', {})];
    await admin.patch(`/api/v1/quitters/${owner.id}`, { firm: owned.id });
    await admin.patch(`/api/v1/quitters/${other.id}`, { firm: others.id });
    const before = await erasedIds();
    await owner.client.delete(`/api/v1/quitter_firms/${others.id}`);
    assert.deepEqual(await erasedIds(), before, "another one's account");
    assert.ok((await versions('quitters', other.id)) > 0);
    await owner.client.delete(`/api/v1/quitter_firms/${owned.id}`);
    const jobs = (await erasuresOf(target, 'quitters')).jobs.filter((job) => at(job, 'options.id') === owner.id);
    assert.equal(jobs.length, 1);
    const job = await ended(admin, textAt(jobs[0], 'id'));
    assert.deepEqual(
      [job.state, at(job, 'certificate.records'), job.owner],
      ['done', 2, { type: 'user', id: owner.id }],
    );
    for (const [collection, id] of [
      ['quitters', owner.id],
      ['quitter_firms', String(owned.id)],
    ] as const)
      assert.equal(await versions(collection, id), 0, collection);
  });

  await t.test('a batch that is refused erases nothing', async () => {
    const { id, client } = await signUp(target, 'quitters', 'quit6');
    const operations = [
      { op: 'delete', collection: 'quitters', id },
      { op: 'delete', collection: 'quitters', id },
    ];
    assert.equal((await client.send('POST', '/api/v1/batch', { body: { operations } })).status, 404);
    assert.ok(!(await erasedIds()).includes(id));
    assert.equal((await admin.get(`/api/v1/quitters/${id}`)).status, 200);
  });

  await t.test("by PocketBase's clients too", async () => {
    await admin.patch('/api/v1/admin/settings', { 'pocketbase.enabled': '1' });
    const { id, token } = await signUp(target, 'quitters', 'quit7');
    const headers = { Authorization: token };
    await eventually('the routes are there', async () => {
      const answer = await target.guest.send('DELETE', `/pb/api/collections/quitters/records/${id}`, { headers });
      return answer.status === 204;
    });
    assert.ok((await erasedIds()).includes(id));
  });

  await t.test('a deleted account can be made again, and is not erased then', async () => {
    const { id, client } = await signUp(target, 'quitters', 'quit8');
    await client.delete(`/api/v1/quitters/${id}`);
    const put = await admin.send('PUT', `/api/v1/quitters/${id}`, { body: { email: 'quit9@example.com', password } });
    assert.equal(put.status, 201, put.text);
    const { jobs } = await erasuresOf(target, 'quitters');
    for (const job of jobs) assert.equal((await ended(admin, textAt(job, 'id'))).state, 'done');
    assert.equal((await admin.get(`/api/v1/quitters/${id}`)).status, 200);
    if (target.databaseUrl === undefined) return;
    const [row] = await inDatabase(
      target,
      `select count(*)::integer as jobs from system.data_jobs where cause = 'account' and record_id = $1`,
      [id],
    );
    assert.equal(row?.jobs, 1);
  });
});
