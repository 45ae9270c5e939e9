import assert from 'node:assert/strict';
import type { Client } from '../harness/clients/client.ts';
import { createWebhook } from '../harness/clients/webhook.ts';
import { eventually } from '../harness/eventually.ts';
import { at, type JsonObject, listAt, numberAt, objectAt, textAt } from '../harness/json.ts';
import { refused } from '../harness/refusals.ts';
import { receivedRecordIds, startReceiver } from '../harness/servers/receiver.ts';
import { inDatabase } from '../harness/stacks/in-database.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { runCron } from './crons.ts';
import { tablesWith } from './erasures.ts';
import { png, upload } from './file-forms.ts';

const long = '2019-05-01T00:00:00Z';
const now = (): string => new Date().toISOString();

const read = async (client: Client, path: string): Promise<unknown> => (await client.get(path)).json;

/** The jobs of a collection's retention, newest first. */
const jobsOf = async (admin: Client, collection: string): Promise<readonly JsonObject[]> =>
  listAt(await read(admin, `/api/v1/jobs?collection=${collection}`), 'data');

/** Runs the retention until a collection has an ended job more than before. Returns the job. */
async function retained(admin: Client, collection: string): Promise<JsonObject> {
  const before = (await jobsOf(admin, collection)).length;
  await runCron(admin, 'retain');
  return eventually(`the retention of ${collection} has ended`, async () => {
    const [job, ...others] = await jobsOf(admin, collection);
    return job?.finished != null && others.length >= before ? job : false;
  });
}

onEachTopology('a collection erases its records when their time is over', async (t, target) => {
  await using receiver = await startReceiver();
  const admin = await target.admin();
  const marker = 'Xanthippova';
  await admin.post('/api/v1/collections', {
    name: 'retained_visits',
    fields: [
      { name: 'visitor', type: 'text' },
      { name: 'ended', type: 'date' },
      { name: 'photo', type: 'file' },
    ],
    history_enabled: true,
    retain: { days: 30, field: 'ended' },
  });
  await admin.post('/api/v1/collections', {
    name: 'retained_notes',
    fields: [
      { name: 'text', type: 'text' },
      { name: 'visit', type: 'relation', collection: 'retained_visits', options: { cascade: 'cascade' } },
    ],
  });
  await createWebhook(admin, receiver.url, ['retained_visits.delete', 'retained_notes.delete']);
  const old = await upload(
    admin,
    '/api/v1/retained_visits',
    { name: 'visitor', content: marker },
    { name: 'ended', content: long },
    { name: 'photo', filename: `${marker}.png`, type: 'image/png', content: png },
  );
  const note = await admin.create('retained_notes', { text: `${marker} was late`, visit: old.id });
  const recent = await admin.create('retained_visits', { visitor: 'kept', ended: now() });
  const endless = await admin.create('retained_visits', { visitor: 'kept too' });

  await t.test('the collection shows it, with its defaults [privacy §3.1]', async () => {
    const shown = objectAt(await read(admin, '/api/v1/collections/retained_visits'), 'data');
    assert.deepEqual(shown.retain, { days: 30, field: 'ended', action: 'delete' });
  });

  await t.test('the cron erases what is due, with cascades, and nothing else [privacy §3.2]', async () => {
    const job = await retained(admin, 'retained_visits');
    assert.equal(job.state, 'done', JSON.stringify(job));
    assert.equal(at(job, 'owner.type'), 'system');
    assert.equal(numberAt(job, 'certificate.records'), 2);
    assert.equal(numberAt(job, 'certificate.files'), 1);
    for (const path of [`retained_visits/${old.id}`, `retained_notes/${note.id}`, `retained_visits/${old.id}/history`])
      assert.equal((await admin.send('GET', `/api/v1/${path}`)).status, 404, path);
    for (const { id } of [recent, endless])
      assert.equal((await admin.get(`/api/v1/retained_visits/${id}`)).status, 200);
    await eventually('the receiver learns by the delete events', async () =>
      [old.id, note.id].every((id) => receivedRecordIds(receiver).includes(String(id))),
    );
    assert.ok(!JSON.stringify(receiver.deliveries).includes(marker));
    if (target.databaseUrl === undefined) return;
    await eventually('nothing in the database names it', async () => {
      const found = await tablesWith(target, marker);
      if (found.length > 0) throw new Error(found.join(', '));
      return true;
    });
  });

  await t.test('without due records there is no job [privacy §3.2]', async () => {
    const before = (await jobsOf(admin, 'retained_visits')).length;
    await runCron(admin, 'retain');
    assert.equal((await jobsOf(admin, 'retained_visits')).length, before);
  });

  await t.test('a record that another one needs stays, and the job says so [privacy §3.2]', async () => {
    await admin.post('/api/v1/collections', {
      name: 'retained_bills',
      fields: [{ name: 'visit', type: 'relation', collection: 'retained_visits', options: { cascade: 'restrict' } }],
    });
    const held = await admin.create('retained_visits', { visitor: 'held', ended: long });
    const free = await admin.create('retained_visits', { visitor: 'free', ended: long });
    await admin.create('retained_bills', { visit: held.id });
    const job = await retained(admin, 'retained_visits');
    assert.equal(job.state, 'failed', JSON.stringify(job));
    assert.match(textAt(job, 'error.message'), new RegExp(`1 records stay: ${held.id}`));
    assert.equal((await admin.send('GET', `/api/v1/retained_visits/${held.id}`)).status, 200);
    assert.equal((await admin.send('GET', `/api/v1/retained_visits/${free.id}`)).status, 404);
  });
});

onEachTopology('a collection empties its records when their time is over', async (t, target) => {
  await using receiver = await startReceiver();
  const admin = await target.admin();
  const marker = 'Ypsilantissa';
  await admin.post('/api/v1/collections', {
    name: 'redacted_orders',
    fields: [
      { name: 'buyer', type: 'text', required: true },
      { name: 'code', type: 'text', options: { unique: true } },
      { name: 'total', type: 'number' },
      { name: 'tags', type: 'select', options: { values: ['a', 'b'], multiple: true } },
      { name: 'paid', type: 'date' },
      { name: 'secret', type: 'text', options: { encrypted: true } },
      { name: 'scan', type: 'file', options: { multiple: true } },
    ],
    history_enabled: true,
    retain: { days: 10, field: 'paid', action: 'redact' },
  });
  await createWebhook(admin, receiver.url, ['redacted_orders.*']);
  const order = await upload(
    admin,
    '/api/v1/redacted_orders',
    { name: 'buyer', content: marker },
    { name: 'code', content: `${marker}-1` },
    { name: 'total', content: '7' },
    { name: 'paid', content: long },
    { name: 'secret', content: marker },
    { name: 'scan', filename: `${marker}.png`, type: 'image/png', content: png },
  );
  const second = await admin.create('redacted_orders', { buyer: marker, code: `${marker}-2`, paid: long });
  const kept = await admin.create('redacted_orders', { buyer: 'kept', paid: now() });
  await eventually('all creates have been received', async () => receivedRecordIds(receiver).length === 3);

  await t.test('the records stay, without their values [privacy §3.3]', async () => {
    const job = await retained(admin, 'redacted_orders');
    assert.equal(job.state, 'done', JSON.stringify(job));
    assert.equal(numberAt(job, 'certificate.records'), 2);
    assert.equal(numberAt(job, 'certificate.files'), 1);
    const shown = objectAt(await read(admin, `/api/v1/redacted_orders/${order.id}`), 'data');
    assert.deepEqual(
      { buyer: shown.buyer, code: shown.code, total: shown.total, paid: shown.paid, scan: shown.scan },
      { buyer: null, code: null, total: null, paid: Date.parse(long) / 1000, scan: [] },
    );
    assert.equal(at(await read(admin, `/api/v1/redacted_orders/${second.id}`), 'data.buyer'), null);
    assert.equal(at(await read(admin, `/api/v1/redacted_orders/${kept.id}`), 'data.buyer'), 'kept');
  });

  await t.test('versions keep who wrote when [privacy §3.3]', async () => {
    const versions = listAt(await read(admin, `/api/v1/redacted_orders/${order.id}/history`), 'data.data');
    assert.ok(versions.length >= 2, JSON.stringify(versions));
    assert.ok(!JSON.stringify(versions).includes(marker));
  });

  await t.test('the update event has nothing of what went [privacy §3.3]', async () => {
    await eventually('it has come', async () => receivedRecordIds(receiver).length >= 5);
    const updates = receiver.deliveries.filter((sent) => JSON.stringify(sent).includes('redacted_orders.update'));
    assert.ok(updates.length >= 2);
    assert.ok(!JSON.stringify(updates).includes(marker), JSON.stringify(updates));
  });

  await t.test('nothing in the database has it [privacy §3.3]', async () => {
    if (target.databaseUrl === undefined) return;
    await eventually('it is gone', async () => {
      const found = await tablesWith(target, marker);
      if (found.length > 0) throw new Error(found.join(', '));
      return true;
    });
  });

  await t.test('an emptied record is not emptied again, unless it gets a value [privacy §3.3]', async () => {
    const before = (await jobsOf(admin, 'redacted_orders')).length;
    await runCron(admin, 'retain');
    assert.equal((await jobsOf(admin, 'redacted_orders')).length, before);
    await admin.patch(`/api/v1/redacted_orders/${order.id}`, { total: 1 });
    assert.equal(numberAt(await retained(admin, 'redacted_orders'), 'certificate.records'), 1);
  });
});

onEachTopology('versions go by age and by count', async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', {
    name: 'trimmed_pages',
    fields: [{ name: 'text', type: 'text' }],
    history_enabled: true,
    history_keep: { versions: 2 },
  });
  const page = await admin.create('trimmed_pages', { text: '1' });
  const versionsOf = async (id: unknown) =>
    listAt(await read(admin, `/api/v1/trimmed_pages/${id}/history`), 'data.data');
  for (const text of ['2', '3', '4']) await admin.patch(`/api/v1/trimmed_pages/${page.id}`, { text });

  await t.test('the newest stay [history §7]', async () => {
    assert.equal((await versionsOf(page.id)).length, 4);
    await runCron(admin, 'history_keep');
    const kept = await versionsOf(page.id);
    assert.deepEqual(
      kept.map((version) => at({ version }, 'version.snapshot.text')),
      ['4', '3'],
    );
  });

  await t.test('old ones go, and a record keeps its newest [history §7]', async () => {
    if (target.databaseUrl === undefined) return;
    await admin.patch('/api/v1/collections/trimmed_pages', { history_keep: { days: 10 } });
    const gone = await admin.create('trimmed_pages', { text: 'gone' });
    await admin.send('DELETE', `/api/v1/trimmed_pages/${gone.id}`);
    const id = textAt(await read(admin, '/api/v1/collections/trimmed_pages'), 'data.id');
    await inDatabase(target, `update history."${id}" set at = at - 11 * 86400`, []);
    await admin.create('trimmed_pages', { text: 'fresh' });
    await runCron(admin, 'history_keep');
    assert.equal((await versionsOf(page.id)).length, 1);
    const rows = await inDatabase(target, `select record_id from history."${id}" where record_id = $1`, [
      String(gone.id),
    ]);
    assert.equal(rows.length, 0);
  });

  await t.test('null keeps all again', async () => {
    const changed = await admin.patch('/api/v1/collections/trimmed_pages', { history_keep: null });
    assert.equal('history_keep' in changed, false);
  });
});

onEachTopology('definitions of retentions', async (t, target) => {
  const fields = [
    { name: 'title', type: 'text' },
    { name: 'until', type: 'date' },
  ];
  const refuse = (name: string, more: object, ...places: readonly string[]): Scenario => ({
    name,
    spec: 'privacy §3.1',
    as: 'admin',
    request: 'POST /api/v1/collections',
    body: { name: 'retained_drafts', fields, ...more },
    expect: refused.invalid(...places),
  });
  await runScenarios(t, target, [
    refuse('a text field', { retain: { days: 1, field: 'title' } }, 'retain.field'),
    refuse('no field of the collection', { retain: { days: 1, field: 'x' } }, 'retain.field'),
    refuse('no days', { retain: { field: 'until' } }, 'retain.days'),
    refuse('zero days', { retain: { days: 0 } }, 'retain.days'),
    refuse('half a day', { retain: { days: 0.5 } }, 'retain.days'),
    refuse('another action', { retain: { days: 1, action: 'hide' } }, 'retain.action'),
    refuse('another member', { retain: { days: 1, hours: 2 } }, 'retain.hours'),
    refuse('a text', { retain: '30 days' }, 'retain'),
    refuse('empty limits', { history_keep: {} }, 'history_keep'),
    refuse('no version', { history_keep: { versions: 0 } }, 'history_keep.versions'),
    refuse(
      'accounts are never emptied',
      { type: 'auth', fields: [], retain: { days: 1, action: 'redact' } },
      'retain.action',
    ),
    refuse('a view', { type: 'view', fields: [], view_query: 'select 1 as id', retain: { days: 1 } }, 'retain'),
  ]);

  const admin = await target.admin();
  await t.test('a retention follows its field, which cannot be dropped before it [privacy §3.1]', async () => {
    const path = '/api/v1/collections/retained_drafts';
    await admin.post('/api/v1/collections', { name: 'retained_drafts', fields, retain: { days: 9, field: 'until' } });
    const [title, until] = JSON.parse(textAt(await read(admin, path), 'data.fields')) as JsonObject[];
    const renamed = await admin.patch(path, { fields: [title, { ...until, name: 'best_before' }] });
    assert.deepEqual(renamed.retain, { days: 9, field: 'best_before', action: 'delete' });
    const refusal = await admin.send('PATCH', path, { body: { fields: [title] } });
    assert.equal(refusal.status, 422, refusal.text);
    assert.deepEqual(Object.keys(objectAt(refusal.json, 'details')), ['retain.field']);
    const dropped = await admin.patch(path, { fields: [title], retain: null });
    assert.equal('retain' in dropped, false);
  });

  await t.test('schema as code has it [privacy §3.1]', async () => {
    const path = '/api/v1/collections/retained_drafts';
    await admin.patch(path, { retain: { days: 5, field: 'updated', action: 'redact' }, history_keep: { versions: 3 } });
    const files = listAt(await read(admin, '/api/v1/admin/schema'), 'data.collections');
    const file = files.find(({ name }) => name === 'retained_drafts');
    assert.deepEqual(file?.retain, { days: 5, field: 'updated', action: 'redact' });
    assert.deepEqual(file?.history_keep, { versions: 3 });
  });
});
