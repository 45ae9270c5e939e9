import assert from 'node:assert/strict';
import { type JsonObject, listAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onOneProcess, stackEnvironment } from '../harness/stacks/target.ts';
import { countsOf, imported, linesOf, recordsOf, refusedRows, sendImport } from './import-jobs.ts';

// A process in another zone stores the same seconds.
stackEnvironment.TZ = 'America/New_York';

const noon = Date.UTC(2024, 0, 15, 12) / 1000;
const midnight = Date.UTC(2024, 0, 15) / 1000;

onOneProcess('date texts are read in UTC, in every place', async (t, target) => {
  const admin = await target.admin();
  const fields = [
    { name: 'at', type: 'date' },
    { name: 'due', type: 'date', options: { default: '2024-01-15 12:00:00' } },
  ];
  await admin.post('/api/v1/collections', {
    name: 'events',
    type: 'base',
    fields,
    update_rule: 'at < "2024-01-15 12:00:01" && @request.body.at < "2024-02-01"',
  });
  const event = await admin.create('events', { at: noon });

  const writes = (value: unknown, seconds: number): Scenario => ({
    name: `a write of ${JSON.stringify(value)}`,
    as: 'admin',
    request: 'POST /api/v1/events',
    body: { at: value },
    expect: { status: 201, json: is.containing({ data: is.containing({ at: seconds, due: noon }) }) },
    events: ['events.create'],
    spec: 'fields §3.6',
  });
  const refuses = (value: unknown, message = /must be unix seconds or a date/): Scenario => ({
    name: `a write of ${JSON.stringify(value)}`,
    as: 'admin',
    request: 'POST /api/v1/events',
    body: { at: value },
    expect: { status: 422, json: is.containing({ details: { at: is.matching(message) } }) },
    spec: 'fields §3.6',
  });
  const finds = (literal: string): Scenario => ({
    name: `at = ${literal}`,
    as: 'admin',
    request: `GET /api/v1/events/aggregate?count=1&filter=${encodeURIComponent(`id = "${event.id}" && at = ${literal}`)}`,
    expect: { status: 200, json: is.containing({ data: [{ count: 1 }] }) },
    spec: 'filters §6.2',
  });
  const findsNothing = (literal: string, message = /cannot be read as unix seconds/): Scenario => ({
    name: `at = ${literal}`,
    as: 'admin',
    request: `GET /api/v1/events?filter=${encodeURIComponent(`at = ${literal}`)}`,
    expect: { status: 400, json: is.containing({ error: is.matching(message) }) },
    spec: 'filters §6.2',
  });
  const changes = (value: unknown, status: 200 | 403): Scenario => ({
    name: `an update by a guest to ${JSON.stringify(value)}`,
    request: `PATCH /api/v1/events/${event.id}`,
    body: { at: value },
    expect: { status },
    events: status === 200 ? ['events.update'] : [],
    spec: 'rules §4.2',
  });

  await runScenarios(t, target, [
    writes('2024-01-15T12:00:00', noon),
    writes('2024-01-15 12:00:00', noon),
    writes('2024-01-15', midnight),
    writes('January 15, 2024', midnight),
    writes('15 Jan 2024 12:00', noon),
    writes('Mon, 15 Jan 2024 12:00:00 GMT', noon),
    writes('Mon, 15 Jan 2024 07:00:00 -0500', noon),
    writes('01/15/2024', midnight),
    writes('01/15/2024 12:00', noon),
    writes(-1.9, -2),
    writes('1969-12-31T23:59:58.1Z', -2),
    writes(1e11, 1e11),
    writes('9999-12-31', 253_402_214_400),
    refuses('foo 1'),
    refuses('room 12'),
    refuses('12'),
    refuses('２０２４-01-01'),
    refuses('2024-02-30'),
    refuses('05.01.2024'),
    refuses('2024/01/15'),
    refuses(1_705_312_800_000, /milliseconds\?/),
    refuses(1e11 + 1, /milliseconds\?/),
    finds('"2024-01-15 12:00:00"'),
    finds('"15 Jan 2024 12:00"'),
    finds('"01/15/2024 12:00"'),
    finds('"2024-01-15T12:00:00.9Z"'),
    finds(`"${noon}"`),
    findsNothing('"foo 1"'),
    findsNothing('"2024-02-30"'),
    findsNothing('"05.01.2024"'),
    findsNothing('1705312800000', /milliseconds\?/),
    findsNothing('"1705312800000"', /milliseconds\?/),
    changes('2024-02-01 00:00:00', 403),
    changes('2024-01-31 23:59:59', 200),
    {
      name: 'a default that is not a date',
      as: 'admin',
      request: 'POST /api/v1/collections',
      body: { name: 'never', type: 'base', fields: [{ name: 'at', type: 'date', options: { default: 'foo 1' } }] },
      expect: refused.invalid('fields.at.options.default'),
      spec: 'fields §2.8',
    },
    {
      name: 'a field of a form',
      as: 'admin',
      request: 'POST /api/v1/events',
      rawBody: '--b\r\nContent-Disposition: form-data; name="at"\r\n\r\n2024-01-15 12:00:00\r\n--b--\r\n',
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
      expect: { status: 201, json: is.containing({ data: is.containing({ at: noon }) }) },
      events: ['events.create'],
      spec: 'files §3.2',
    },
  ]);

  await t.test('a view counts hours in UTC [views §3]', async () => {
    const query = `select id, extract(hour from to_timestamp(at)) as hour from events where id = '${event.id}'`;
    await admin.post('/api/v1/collections', { name: 'hours', type: 'view', view_query: query });
    const shown = await admin.get('/api/v1/records/hours');
    assert.deepEqual(
      listAt(shown.json, 'data').map((one) => (one as JsonObject).hour),
      [23],
    );
  });
});

onOneProcess('a date after the year 5138 is restored from history', async (t, target) => {
  const admin = await target.admin();
  const fields = [{ name: 'at', type: 'date' }];
  await admin.post('/api/v1/collections', { name: 'far', type: 'base', fields, history_enabled: true });
  const far = await admin.create('far', { at: '9999-12-31' });
  await admin.patch(`/api/v1/far/${far.id}`, { at: 1 });
  await t.test('with the same value [history §5]', async () => {
    const answer = await admin.send('POST', `/api/v1/far/${far.id}/restore?version=${far.updated}`, {});
    assert.equal(answer.status, 200, answer.text);
    assert.match(answer.text, /"at":253402214400/);
  });
});

onOneProcess("an import reads dates in the parameter's order", async (t, target) => {
  const admin = await target.admin();
  let count = 0;
  const importDates = async (
    format: 'csv' | 'ndjson',
    texts: readonly string[],
    parameters: Record<string, string>,
  ) => {
    count += 1;
    const name = `dates_${count}`;
    const fields = [
      { name: 'at', type: 'date' },
      { name: 'n', type: 'number' },
    ];
    await admin.post('/api/v1/collections', { name, type: 'base', fields });
    const rows = texts.map((text, n) => ({ at: text, n }));
    const body = format === 'csv' ? `at,n\n${rows.map((row) => `"${row.at}",${row.n}\n`).join('')}` : linesOf(rows);
    const job = await imported(admin, name, { format, keep: 'id,created', ...parameters }, body);
    const records = await recordsOf(admin, name, 'at');
    return { job, shown: records.map((record) => (record as { at: unknown }).at) };
  };
  const day = (text: string): number => Date.parse(`${text}T00:00:00Z`) / 1000;

  for (const format of ['csv', 'ndjson'] as const) {
    for (const parameters of [{}, { dates: 'iso' }] as readonly Record<string, string>[])
      await t.test(`${format}: ISO 8601 by default, and no numeric form [import §3.2]`, async () => {
        const texts = ['2024-01-15 12:00:00', '05.01.2024', '01/05/2024', 'foo 1', '5 Jan 2024'];
        const { job, shown } = await importDates(format, texts, parameters);
        assert.deepEqual(shown, [noon, day('2024-01-05')]);
        assert.deepEqual(countsOf(job), { total: 5, read: 5, done: 2, refused: 3 });
        const refusals = await refusedRows(admin, job);
        assert.equal(refusals.match(/set dates=mdy or dates=dmy/g)?.length, 2);
        assert.equal(refusals.match(/must be unix seconds or a date/g)?.length, 3);
      });

    await t.test(`${format}: dates=dmy [import §3.2]`, async () => {
      const texts = ['05.01.2024', '5/1/2024', '05-01-2024', '2024-01-05', '01/15/2024', '30.02.2024'];
      const { job, shown } = await importDates(format, texts, { dates: 'dmy' });
      assert.deepEqual(shown, Array(4).fill(day('2024-01-05')));
      assert.deepEqual(countsOf(job), { total: 6, read: 6, done: 4, refused: 2 });
    });

    await t.test(`${format}: dates=mdy [import §3.2]`, async () => {
      const texts = ['01.05.2024', '1/5/2024', '01-05-2024', 'January 5, 2024', '15/01/2024'];
      const { job, shown } = await importDates(format, texts, { dates: 'mdy' });
      assert.deepEqual(shown, Array(4).fill(day('2024-01-05')));
      assert.deepEqual(countsOf(job), { total: 5, read: 5, done: 4, refused: 1 });
    });
  }

  await t.test('in the times that it keeps too [import §4.4]', async () => {
    await admin.post('/api/v1/collections', { name: 'kept', type: 'base', fields: [{ name: 'n', type: 'number' }] });
    const body = 'n,created\n1,05.01.2024 12:00\n2,01/15/2024\n';
    const job = await imported(admin, 'kept', { format: 'csv', keep: 'created', dates: 'dmy' }, body);
    assert.deepEqual(countsOf(job), { total: 2, read: 2, done: 1, refused: 1 });
    assert.deepEqual(await recordsOf(admin, 'kept', 'created'), [{ created: day('2024-01-05') + 43_200 }]);
  });

  await t.test('and no unknown order [import §1.3]', async () => {
    for (const dates of ['ymd', 'DMY', '']) {
      const answer = await sendImport(admin, 'kept', { format: 'csv', dates }, 'n\n1\n');
      assert.equal(answer.status, 400, dates);
      assert.match(answer.text, /dates/);
    }
  });

  await t.test('milliseconds are refused [fields §3.6]', async () => {
    const { job } = await importDates('csv', ['1705312800000', '1705312800.9', '-1.9'], {});
    assert.match(await refusedRows(admin, job), /milliseconds\?/);
    assert.deepEqual(countsOf(job), { total: 3, read: 3, done: 2, refused: 1 });
  });
});
