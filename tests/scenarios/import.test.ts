import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { openBusReader } from '../harness/clients/bus-reader.ts';
import { eventually } from '../harness/eventually.ts';
import { at, listAt, textAt } from '../harness/json.ts';
import { onEachTopology, onOneProcess } from '../harness/stacks/target.ts';
import { countsOf, ended, imported, linesOf, readJob, recordsOf, refusedRows, sendImport } from './import-jobs.ts';

const fields = [
  { name: 'title', type: 'text', required: true },
  { name: 'code', type: 'text', options: { unique: true } },
  { name: 'n', type: 'number', options: { default: 7 } },
];

onEachTopology('an import of JSON lines', async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'lines', type: 'base', fields });

  await t.test('writes the valid rows, and keeps the refused rows with the reasons [import §1.1, §5.2]', async () => {
    const rows = [
      { title: 'one', code: 'a', n: 1 },
      { title: 'two', code: 'b', n: 'x' },
      { code: 'c' },
      { title: 'four', code: 'a' },
      { title: 'five', code: 'e', what: 1 },
      { title: 'six', code: 'f', n: null },
      { title: 'seven', n: { $add: 1 } },
    ];
    const job = await imported(admin, 'lines', { format: 'ndjson' }, `${linesOf(rows)}no\n[1]\n\n{"__proto__":1}`);
    assert.equal(job.state, 'done');
    assert.deepEqual(countsOf(job), { total: 10, read: 10, done: 2, refused: 8 });
    assert.deepEqual(await recordsOf(admin, 'lines', 'title,code,n'), [
      { title: 'one', code: 'a', n: 1 },
      { title: 'six', code: 'f', n: null },
    ]);
    assert.deepEqual((await refusedRows(admin, job)).split('\n'), [
      '{"title":"two","code":"b","n":"x","_refused":{"n":"must be a number"}}',
      '{"code":"c","_refused":{"title":"is required"}}',
      '{"title":"four","code":"a","_refused":{"code":"is already taken"}}',
      '{"title":"five","code":"e","what":1,"_refused":{"what":"is not a field of lines"}}',
      '{"title":"seven","n":{"$add":1},"_refused":{"n":"must be a number"}}',
      '{"_source":"no","_refused":{"_row":"is not valid JSON"}}',
      '{"_source":"[1]","_refused":{"_row":"must be an object"}}',
      '{"_source":"{\\"__proto__\\":1}","_refused":{"_row":"must not have the member __proto__"}}',
      '',
    ]);
  });

  await t.test('shows its job [import §7.1, §7.2]', async () => {
    const job = await imported(admin, 'lines', { format: 'ndjson', keep: 'id' }, linesOf([{ id: 'x1', title: 'x' }]));
    const { created, started, finished, rate, id, owner, ...rest } = job;
    assert.deepEqual(rest, {
      kind: 'import',
      state: 'done',
      collection: 'lines',
      options: { format: 'ndjson', keep: 'id', mode: 'insert', dry_run: false },
      rows: { total: 1, read: 1, done: 1, skipped: 0, refused: 0, waiting: 0 },
      bytes: 24,
      eta_s: null,
      error: null,
    });
    assert.deepEqual([typeof created, typeof started, typeof finished, typeof rate], Array(4).fill('number'));
    assert.equal(at(owner, 'type'), 'admin');
    const list = await admin.get('/api/v1/jobs?collection=lines&state=done&perPage=1');
    assert.equal(at(list.json, 'totalItems'), 2);
    assert.deepEqual(at(list.json, 'data.0'), job);
    assert.equal((await admin.get(`/api/v1/jobs/${id}/refused`)).text, '');
  });

  await t.test('has an event for each record, and no other [import §5.1]', async () => {
    if (target.natsUrl === undefined) return;
    await using bus = await openBusReader(target.natsUrl, { isFromNow: true });
    const rows = Array.from({ length: 2500 }, (_, n) => ({ title: `many ${n}`, code: `many-${n}` }));
    const job = await imported(admin, 'lines', { format: 'ndjson' }, linesOf(rows));
    assert.deepEqual(countsOf(job), { total: 2500, read: 2500, done: 2500 });
    const ofRows = () =>
      bus.events.filter(
        ({ body }) => at(body, 'collection') === 'lines' && String(at(body, 'data.record.title')).startsWith('many'),
      );
    const titles = () => ofRows().map(({ body }) => at(body, 'data.record.title'));
    await eventually('all events are published', () => titles().length >= 2500);
    // Different records' events have no order, because several relays may publish them.
    assert.deepEqual(titles().toSorted(), rows.map(({ title }) => title).toSorted());
    const [first] = ofRows();
    assert.equal(at(first?.body, 'batch'), undefined);
    assert.equal(at(first?.body, 'actor.type'), 'admin');
    assert.equal(at((await admin.get('/api/v1/lines')).json, 'totalItems'), 2503);
  });

  await t.test('publishes no events with events=none, and totals are correct [import §5.3]', async () => {
    if (target.natsUrl === undefined) return;
    const before = Number(at((await admin.get('/api/v1/lines')).json, 'totalItems'));
    await using bus = await openBusReader(target.natsUrl, { isFromNow: true });
    const rows = Array.from({ length: 300 }, (_, n) => ({ title: `quiet ${n}`, code: `many-${n + 2400}` }));
    const parameters = { format: 'ndjson', events: 'none', mode: 'upsert', on: 'code' } as const;
    const job = await imported(admin, 'lines', parameters, linesOf(rows));
    assert.deepEqual(countsOf(job), { total: 300, read: 300, done: 300 });
    await admin.create('lines', { title: 'marker' });
    const titles = () => bus.events.map(({ body }) => String(at(body, 'data.record.title')));
    await eventually('the marker is published', () => titles().includes('marker'));
    assert.deepEqual(
      titles().filter((title) => title.startsWith('quiet')),
      [],
    );
    assert.equal(at((await admin.get('/api/v1/lines')).json, 'totalItems'), before + 201);
    const audit = await admin.get('/api/v1/admin/audit?action=records.import&perPage=1');
    assert.deepEqual(at(audit.json, 'data.0.details'), { job: job.id, mode: 'upsert', events: 'none', dry_run: false });
  });

  await t.test('happens once for an idempotency key [import §1.6]', async () => {
    const headers = { 'Idempotency-Key': randomUUID() };
    const send = () => sendImport(admin, 'lines', { format: 'ndjson' }, linesOf([{ title: 'once' }]), headers);
    const [first, second] = [await send(), await send()];
    assert.deepEqual([first.status, second.status], [202, 202]);
    assert.equal(second.text, first.text);
    assert.equal(second.headers['idempotency-replayed'], 'true');
    await ended(admin, textAt(first.json, 'data.id'));
    assert.equal(
      at((await admin.get(`/api/v1/lines?filter=${encodeURIComponent('title = "once"')}`)).json, 'totalItems'),
      1,
    );
  });
});

onOneProcess('an import of a JSON list', async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'listed', type: 'base', fields });

  await t.test('reads each element [import §3.3]', async () => {
    const body =
      ' [ {"title":"a ] \\" , }","n":1} ,\n{"title":"b","code":"x"},5, null , [[{}]],{"n":[1,{"a":"]"}]} ]\n';
    const job = await imported(admin, 'listed', { format: 'json' }, body);
    assert.deepEqual(countsOf(job), { total: 6, read: 6, done: 2, refused: 4 });
    const refused = JSON.parse(await refusedRows(admin, job));
    assert.deepEqual(refused, [
      { _source: '5', _refused: { _row: 'must be an object' } },
      { _source: 'null', _refused: { _row: 'must be an object' } },
      { _source: '[[{}]]', _refused: { _row: 'must be an object' } },
      { n: [1, { a: ']' }], _refused: { title: 'is required', n: 'must be a number' } },
    ]);
  });

  await t.test('an empty body imports nothing [import §3.3]', async () => {
    const job = await imported(admin, 'listed', { format: 'json' }, '[ ]');
    assert.deepEqual([job.state, countsOf(job)], ['done', {}]);
    assert.deepEqual(JSON.parse(await refusedRows(admin, job)), []);
  });

  const broken: readonly [string, string, number, RegExp][] = [
    ['a list that is not closed', '[{"title":"a"},{"title":"b"}', 3, /not closed/],
    ['an element that is not closed', '[{"title":"a"},{"title":"b', 2, /not closed/],
    ['text after the list', '[{"title":"a"}] x', 2, /continues/],
    ['no comma between elements', '[{"title":"a"} {"title":"b"}]', 2, /comma/],
    ['a comma at the end', '[{"title":"a"},]', 2, /element is missing/],
    ['an element of more than one MiB', `[{"title":"a"},{"title":"${'x'.repeat(1_200_000)}"}]`, 2, /more than/],
  ];
  for (const [name, body, row, message] of broken)
    await t.test(`refuses ${name} [import §3.5]`, async () => {
      const answer = await sendImport(admin, 'listed', { format: 'json' }, body);
      assert.deepEqual([answer.status, at(answer.json, 'code')], [422, 'body_broken'], answer.text);
      assert.deepEqual(at(answer.json, 'details'), { row });
      assert.match(textAt(answer.json, 'error'), message);
    });
});

onOneProcess('a dry run, and an earlier body', async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'dry', type: 'base', fields });
  const body = linesOf([{ title: 'a', code: 'a' }, { code: 'b' }, { title: 'c', code: 'a' }]);
  const dry = await imported(admin, 'dry', { format: 'ndjson', dry_run: '1' }, body);

  await t.test('a dry run counts and writes nothing [import §4.5]', async () => {
    assert.deepEqual(countsOf(dry), { total: 3, read: 3, done: 1, refused: 2 });
    assert.deepEqual(await recordsOf(admin, 'dry', 'title'), []);
  });

  await t.test('its body may be used again [import §1.5]', async () => {
    const id = textAt(dry, 'id');
    const answer = await admin.send('POST', `/api/v1/records/dry/import?format=ndjson&upload=${id}`);
    assert.equal(answer.status, 202, answer.text);
    const job = await ended(admin, textAt(answer.json, 'data.id'));
    assert.deepEqual(countsOf(job), { total: 3, read: 3, done: 1, refused: 2 });
    assert.deepEqual(await recordsOf(admin, 'dry', 'title'), [{ title: 'a' }]);
    assert.equal((await refusedRows(admin, job)).split('\n').length, 3);
    assert.notEqual(job.id, id);
    assert.equal((await readJob(admin, id)).state, 'done');
  });

  await t.test('jobs are listed newest first [import §7.2]', async () => {
    const jobs = listAt((await admin.get('/api/v1/jobs?collection=dry')).json, 'data');
    assert.deepEqual(
      jobs.map(({ options }) => at(options, 'dry_run')),
      [false, true],
    );
  });
});
