import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get } from 'node:http';
import { at, listAt } from '../harness/json.ts';
import { inDatabase } from '../harness/stacks/in-database.ts';
import { onOneProcess, type Target } from '../harness/stacks/target.ts';

const count = 200_000;

/** What garbage may add. The longer export has 150,000 records more: 40 MB of text, and several times that as objects. */
const allowedBytes = 100 * 2 ** 20;

/** Reads an export of the first records to its end. Returns its lines and the process's peak memory. */
async function exportFirst(
  target: Target,
  format: string,
  records: number,
): Promise<{ lines: number; residentBytes: number }> {
  const admin = await target.admin();
  const query = new URLSearchParams({ format, filter: `n <= ${records}` });
  const [answer] = await once(get(`${target.url}/api/v1/records/many/export?${query}`), 'response');
  let lines = 0;
  let isRead = false;
  const reading = (async () => {
    for await (const bytes of answer as AsyncIterable<Buffer>) for (const byte of bytes) if (byte === 0x0a) lines += 1;
  })().finally(() => {
    isRead = true;
  });
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
  await inDatabase(
    target,
    `insert into records.many (id, title, n, created_at, updated_at)
      select 'r' || n, repeat('=text ', 30) || n, n, n, n from generate_series(1, $1::int) n`,
    [count],
  );
  for (const format of ['csv', 'ndjson']) {
    await t.test(format, async () => {
      const head = format === 'csv' ? 1 : 0;
      let grown = Number.POSITIVE_INFINITY;
      // The heap grows and shrinks by itself. An export that is kept in memory takes it every time.
      for (let attempt = 0; attempt < 3 && grown > allowedBytes; attempt += 1) {
        const short = await exportFirst(target, format, count / 4);
        const long = await exportFirst(target, format, count);
        assert.deepEqual([short.lines, long.lines], [count / 4 + head, count + head]);
        grown = long.residentBytes - short.residentBytes;
      }
      assert.ok(grown < allowedBytes, `${Math.round(grown / 2 ** 20)} MiB more than a quarter of the records`);
    });
  }
});
