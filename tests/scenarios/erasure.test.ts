import assert from 'node:assert/strict';
import { createClient } from '../harness/clients/client.ts';
import { createWebhook, deliveriesOf, webhooksPath } from '../harness/clients/webhook.ts';
import { eventually } from '../harness/eventually.ts';
import { at, listAt, numberAt, textAt } from '../harness/json.ts';
import { refused } from '../harness/refusals.ts';
import { startReceiver } from '../harness/servers/receiver.ts';
import { inDatabase } from '../harness/stacks/in-database.ts';
import { runScenarios } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { unknownId } from './blog.ts';
import { askErasure, erased, erasePath, tablesWith } from './erasures.ts';
import { png, upload } from './file-forms.ts';
import { ended } from './import-jobs.ts';

const marker = 'Zanzibarowna';
const password = 'a long and winding password';

onEachTopology('an account is erased with all that is stored about it', async (t, target) => {
  if (target.databaseUrl === undefined) return;
  await using receiver = await startReceiver();
  const admin = await target.admin();
  await admin.post('/api/v1/collections', {
    name: 'patients',
    type: 'auth',
    fields: [{ name: 'full_name', type: 'text' }],
    list_rule: '',
    view_rule: '',
    update_rule: 'id = @request.auth.id',
    history_enabled: true,
  });
  await admin.post('/api/v1/collections', {
    name: 'reports',
    fields: [
      { name: 'text', type: 'text' },
      { name: 'patient', type: 'relation', collection: 'patients', options: { cascade: 'cascade' } },
      { name: 'scan', type: 'file' },
    ],
    history_enabled: true,
  });
  const index = { name: 'words', type: 'search', fields: [{ field: 'text' }], language: 'english' };
  await admin.post('/api/v1/admin/collections/reports/indexes', index);
  const hook = await createWebhook(admin, receiver.url, ['patients.*', 'reports.*', 'system.*']);
  const failing = await createWebhook(admin, `${receiver.url}bad`, ['reports.*'], { name: 'bad', retry_max: 20 });
  receiver.behave((to, sent) => {
    const body = JSON.stringify(sent).includes(marker) ? `no ${marker}` : '';
    return { status: to.endsWith('bad') ? 500 : 200, body };
  });

  const email = `${marker}@example.com`.toLowerCase();
  const session = await target.guest.post('/api/v1/auth/patients/register', { email, password });
  const person = createClient(target.url, textAt(session, 'token'));
  const id = textAt(session, 'record.id');
  await person.patch(`/api/v1/patients/${id}`, { full_name: marker });
  await target.guest.post('/api/v1/auth/patients/login', { email, password }, 200);
  const report = await upload(
    admin,
    '/api/v1/reports',
    { name: 'text', content: `${marker} was here` },
    { name: 'patient', content: id },
    { name: 'scan', filename: `${marker}.png`, type: 'image/png', content: png },
  );
  const headers = { 'Idempotency-Key': 'erasure-1' };
  const body = { text: `${marker} came again`, patient: id };
  assert.equal((await admin.send('POST', '/api/v1/reports', { body, headers })).status, 201);
  await admin.patch(`/api/v1/reports/${report.id}`, { text: `${marker} went` });
  const other = await admin.create('reports', { text: 'of another person' });
  await eventually('deliveries were made and sent', async () => {
    const sent = (await deliveriesOf(admin, hook.id)).filter(({ status }) => status === 'success');
    const refusedOnes = (await deliveriesOf(admin, failing.id)).filter(({ response_code: code }) => code === 500);
    return sent.length >= 6 && refusedOnes.length >= 1;
  });
  await eventually('the words are known and the request is logged', async () => {
    const places = await tablesWith(target, marker);
    return places.some((name) => name.includes(':known')) && places.includes('system.mail_queue') === false;
  });

  await t.test('a dry run counts everything and erases nothing [privacy §2.3]', async () => {
    const before = await tablesWith(target, marker);
    const counted = await erased(admin, 'patients', id, { dry_run: true });
    assert.deepEqual(
      { ...counted, events: 0, deliveries: 0, history: 0, requests: 0, audit: 0, mails: 0, stream_until: 0 },
      {
        records: 3,
        history: 0,
        files: 1,
        previews: 0,
        deliveries: 0,
        events: 0,
        requests: 0,
        audit: 0,
        mails: 0,
        stream_until: 0,
        backups: [],
      },
    );
    assert.ok(numberAt(counted, 'events') >= 5 && numberAt(counted, 'deliveries') >= 6, JSON.stringify(counted));
    assert.ok(numberAt(counted, 'history') >= 5, JSON.stringify(counted));
    assert.equal((await admin.get(`/api/v1/patients/${id}`)).status, 200);
    const after = await tablesWith(target, marker);
    assert.deepEqual(
      before.filter((name) => !after.includes(name) && !name.includes(':new')),
      [],
    );
  });

  await t.test('nothing in the database names it afterwards [privacy §2.1]', async () => {
    const certificate = await erased(admin, 'patients', id);
    assert.equal(certificate.records, 3);
    assert.equal(certificate.files, 1);
    assert.ok(numberAt(certificate, 'stream_until') > Date.now() / 1000 + 6 * 24 * 3600, JSON.stringify(certificate));
    assert.equal((await admin.get(`/api/v1/patients/${id}`)).status, 404);
    assert.equal((await admin.get(`/api/v1/reports/${report.id}`)).status, 404);
    assert.equal((await admin.get(`/api/v1/reports/${other.id}`)).status, 200);
    await eventually(
      'only the stream has it',
      async () => {
        const found = await tablesWith(target, marker);
        if (found.length > 0) throw new Error(found.join(', '));
        return true;
      },
      { timeoutMs: 300_000 },
    );
  });

  await t.test('its delete events have the ids only [privacy §2.2]', async () => {
    await eventually('the delete events have come', async () => {
      const deletes = receiver.deliveries.filter(({ json }) => /^(patients|reports)\.delete$/.test(String(json.event)));
      if (deletes.length < 3) throw new Error(`${deletes.length} came`);
      for (const { json } of deletes) {
        const record = at(json, 'data.record');
        assert.deepEqual(Object.keys(Object(record)), ['id']);
      }
      return true;
    });
  });

  await t.test('its deliveries are listed without payloads, and nothing waits [privacy §2.1]', async () => {
    const events = listAt((await admin.get(`/api/v1/admin/events?record=${id}`)).json, 'data');
    assert.ok(events.length > 0);
    const rows = await deliveriesOf(admin, failing.id, '?perPage=100');
    const waiting = rows.filter(({ status, event }) => status === 'pending' && event !== 'reports.delete');
    assert.deepEqual(
      waiting.filter(({ payload }) => JSON.stringify(payload).includes(String(report.id))),
      [],
    );
    const missing = await admin.send('POST', `${webhooksPath}/${hook.id}/replay`, {
      body: { since: 0, missing: true, dry_run: true },
    });
    assert.equal(missing.status, 200, missing.text);
  });

  await t.test('totals stay right, and a repeated request writes nothing [privacy §2.1]', async () => {
    assert.equal(at((await admin.get('/api/v1/reports')).json, 'totalItems'), 1);
    const again = await admin.send('POST', '/api/v1/reports', { body, headers });
    assert.deepEqual([again.status, at(again.json, 'data')], [201, null]);
    assert.equal(at((await admin.get('/api/v1/reports')).json, 'totalItems'), 1);
  });

  await t.test('its audit rows have a keyed hash [privacy §2.1]', async () => {
    const rows = await inDatabase(target, 'select * from system.audit where strpos(audit::text, $1) > 0', [id]);
    assert.deepEqual(rows, []);
    const asked = await inDatabase(
      target,
      `select target_id from system.audit where action = 'records.erase' order by at desc limit 1`,
      [],
    );
    assert.match(String(asked[0]?.target_id), /^erased:[\w-]{27}$/);
  });

  await t.test('it can be erased again, and then has nothing left [privacy §2.1]', async () => {
    const again = await erased(admin, 'patients', id);
    assert.equal(again.records, 0);
  });
});

onEachTopology('an erasure refuses', async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'notes', fields: [{ name: 'text', type: 'text' }] });
  await admin.post('/api/v1/collections', {
    name: 'stamps',
    fields: [{ name: 'note', type: 'relation', collection: 'notes', options: { cascade: 'restrict' } }],
  });
  await admin.post('/api/v1/collections', { name: 'shown', type: 'view', view_query: 'select id, text from notes' });
  const note = await admin.create('notes', { text: 'kept' });
  const request = `POST ${erasePath('notes', note.id)}`;
  await runScenarios(t, target, [
    { name: 'a guest', request, body: {}, expect: refused.unauthenticated, spec: 'privacy §2.1' },
    { name: 'a user', as: 'user', request, body: {}, expect: refused.forbidden, spec: 'privacy §2.1' },
    {
      name: 'an unknown record',
      as: 'admin',
      request: `POST ${erasePath('notes', unknownId)}`,
      body: {},
      expect: refused.notFound,
      spec: 'privacy §2.1',
    },
    {
      name: 'an unknown collection',
      as: 'admin',
      request: `POST ${erasePath('nowhere', unknownId)}`,
      body: {},
      expect: refused.notFound,
      spec: 'privacy §2.1',
    },
    {
      name: 'a view',
      as: 'admin',
      request: `POST ${erasePath('shown', note.id)}`,
      body: {},
      expect: { status: 405 },
      spec: 'privacy §2.1',
    },
    {
      name: 'another way to treat the history',
      as: 'admin',
      request,
      body: { history: 'keep' },
      expect: refused.naming('history'),
      spec: 'privacy §2.1',
    },
  ]);

  await t.test('a command for an erasure is refused [privacy §2.6]', async () => {
    const job = await askErasure(admin, 'notes', note.id, { dry_run: true });
    const answer = await admin.send('POST', `/api/v1/jobs/${job}/cancel`, { body: {} });
    assert.deepEqual([answer.status, at(answer.json, 'code')], [409, 'job_state']);
    assert.equal((await ended(admin, job)).state, 'done');
  });

  await t.test('a record that another one needs: the job fails and says so [privacy §2.2]', async () => {
    await admin.create('stamps', { note: note.id });
    const job = await ended(admin, await askErasure(admin, 'notes', note.id));
    assert.equal(job.state, 'failed');
    assert.match(textAt(job, 'error.message'), /other records refer/);
    assert.equal((await admin.get(`/api/v1/notes/${note.id}`)).status, 200);
  });
});

onEachTopology('erasures of a record with many cascades, several at once', async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'owners', fields: [{ name: 'n', type: 'number' }] });
  await admin.post('/api/v1/collections', {
    name: 'things',
    fields: [{ name: 'owner', type: 'relation', collection: 'owners', options: { cascade: 'cascade' } }],
    history_enabled: true,
  });
  const [one, two] = [await admin.create('owners', { n: 1 }), await admin.create('owners', { n: 2 })];
  const rows = Array.from({ length: 2500 }, () => ({ owner: one.id }));
  const lines = rows.map((row) => JSON.stringify(row)).join('\n');
  const sent = await admin.send('POST', '/api/v1/records/things/import?format=ndjson', {
    rawBody: lines,
    headers: { 'Content-Type': 'application/x-ndjson' },
  });
  assert.equal((await ended(admin, textAt(sent.json, 'data.id'))).state, 'done');
  const kept = await admin.create('things', { owner: two.id });

  await t.test('one deletes, the others find it deleted, and all are done [privacy §2.1]', async () => {
    const ids = await Promise.all([1, 2, 3].map(() => askErasure(admin, 'owners', one.id)));
    const jobs = [];
    for (const id of ids) jobs.push(await ended(admin, id, 120_000));
    assert.deepEqual(
      jobs.map(({ state }) => state),
      ['done', 'done', 'done'],
    );
    assert.deepEqual(
      jobs.map((job) => numberAt(job, 'certificate.records')).toSorted((a, b) => a - b),
      [0, 0, 2501],
    );
    assert.equal(at((await admin.get('/api/v1/things')).json, 'totalItems'), 1);
    assert.equal((await admin.get(`/api/v1/things/${kept.id}/history`)).status, 200);
  });
});

onEachTopology('an erasure that redacts the history', async (t, target) => {
  const admin = await target.admin();
  const fields = [{ name: 'text', type: 'text' }];
  await admin.post('/api/v1/collections', { name: 'diaries', fields, history_enabled: true });
  const { id } = await admin.create('diaries', { text: marker });
  await admin.patch(`/api/v1/diaries/${id}`, { text: `${marker} again` });
  assert.equal((await erased(admin, 'diaries', id, { history: 'redact' })).history, 3);

  await t.test('keeps who wrote when, without values [privacy §2.1]', async () => {
    const answer = await admin.get(`/api/v1/diaries/${id}/history`);
    assert.ok(!answer.text.includes(marker), answer.text);
    assert.deepEqual(
      listAt(answer.json, 'data.data').map((row) => [row.op, at(row, 'snapshot.text')]),
      [
        ['delete', null],
        ['update', null],
        ['create', null],
      ],
    );
  });

  await t.test('and nothing can be restored [privacy §2.1]', async () => {
    const answer = await admin.send('POST', `/api/v1/diaries/${id}/restore?deleted=1&at=9999999999`, { body: {} });
    assert.equal(answer.status, 404, answer.text);
  });
});
