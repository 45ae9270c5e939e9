import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get } from 'node:http';
import { inDatabase } from '../harness/in-database.ts';
import { at, listAt } from '../harness/json.ts';
import { onOneProcess, type Target } from '../harness/target.ts';

const count = 200_000;

/** Reads an export to its end. Returns its lines and the process's peak memory. */
async function exportAll(target: Target, format: string): Promise<{ lines: number; residentBytes: number }> {
  const admin = await target.admin();
  const [answer] = await once(get(`${target.url}/api/v1/records/many/export?format=${format}`), 'response');
  let lines = 0;
  let isRead = false;
  const reading = (async () => {
    for await (const bytes of answer as AsyncIterable<Buffer>) for (const byte of bytes) if (byte === 0x0a) lines += 1;
    isRead = true;
  })();
  let residentBytes = 0;
  while (!isRead) {
    const { json } = await admin.get('/_/metrics');
    const family = listAt(json, 'data').find((one) => at(one, 'name') === 'process_resident_memory_bytes');
    for (const sample of listAt(family, 'samples'))
      residentBytes = Math.max(residentBytes, Number(at(sample, 'value')));
  }
  await reading;
  return { lines, residentBytes };
}

onOneProcess('an export takes the same memory however long it is [export §4.4]', async (t, target) => {
  if (target.databaseUrl === undefined) return t.skip('this stack runs elsewhere');
  const admin = await target.admin();
  await admin.post('/api/v1/collections', {
    name: 'many',
    type: 'base',
    list_rule: null,
    fields: [
      { name: 'title', type: 'text' },
      { name: 'n', type: 'number' },
    ],
  });
  const fill = (from: number, to: number) =>
    inDatabase(
      target,
      `insert into records.many (id, title, n, created_at, updated_at)
        select 'r' || n, repeat('=text ', 30) || n, n, n, n from generate_series($1::int, $2::int) n`,
      [from, to],
    );

  // A new process's heap grows with its first work.
  await fill(1, count / 4);
  await exportAll(target, 'csv');
  const short = await exportAll(target, 'csv');
  assert.equal(short.lines, count / 4 + 1);
  await fill(count / 4 + 1, count);
  for (const format of ['csv', 'ndjson']) {
    await t.test(format, async () => {
      const long = await exportAll(target, format);
      assert.equal(long.lines, format === 'csv' ? count + 1 : count);
      const grown = long.residentBytes - short.residentBytes;
      assert.ok(grown < 150 * 2 ** 20, `${Math.round(grown / 2 ** 20)} MiB more than a quarter of the records`);
    });
  }
});
