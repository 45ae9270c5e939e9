import assert from 'node:assert/strict';
import fc from 'fast-check';
import { onOneProcess } from '../harness/stacks/target.ts';
import { countsOf, imported } from './import-jobs.ts';

const fieldsOf = (collection: string) => [
  { name: 'title', type: 'text' },
  { name: 'secret', type: 'text', options: { encrypted: true } },
  { name: 'n', type: 'number' },
  { name: 'ok', type: 'bool' },
  { name: 'at', type: 'date' },
  { name: 'kind', type: 'select', options: { values: ['-a', '=b', 'c'] } },
  { name: 'kinds', type: 'select', options: { values: ['-a', '=b', 'c'], multiple: true } },
  { name: 'meta', type: 'json' },
  { name: 'place', type: 'geoPoint' },
  { name: 'course', type: 'vector', options: { dimensions: 2 } },
  { name: 'parent', type: 'relation', collection },
  { name: 'friends', type: 'relation', collection, options: { multiple: true } },
  { name: 'seen', type: 'autodate', onCreate: true, onUpdate: false },
];

/** Characters that are special for separators, quotes, spreadsheets and encodings. */
const nasty = fc.string({
  unit: fc.constantFrom(
    "'",
    '"',
    '=',
    '+',
    '-',
    '@',
    '\t',
    '\r',
    '\n',
    ',',
    ';',
    ' ',
    'a',
    '0',
    'null',
    'ü',
    '😀',
    '\ufeff',
  ),
  maxLength: 8,
});
const number = fc.double({ noNaN: true, noDefaultInfinity: true });
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });

const record = fc.record({
  title: maybe(nasty),
  secret: maybe(nasty),
  n: maybe(number),
  ok: maybe(fc.boolean()),
  at: maybe(fc.integer({ min: -8_640_000_000, max: 8_640_000_000 })),
  kind: maybe(fc.constantFrom('-a', '=b', 'c')),
  kinds: maybe(fc.uniqueArray(fc.constantFrom('-a', '=b', 'c'))),
  meta: maybe(fc.jsonValue({ maxDepth: 3 })),
  place: maybe(
    fc.record({ lat: fc.integer({ min: -90, max: 90 }), lng: fc.double({ min: -180, max: 180, noNaN: true }) }),
  ),
  course: maybe(fc.tuple(number, number)),
});

/** Set it to run with other records. */
const seed = Number(process.env.FUZZ_SEED ?? 1);

onOneProcess('what was exported imports as it was', async (t, target) => {
  const admin = await target.admin();
  const define = (name: string) => admin.post('/api/v1/collections', { name, type: 'base', fields: fieldsOf(name) });
  await define('origin');
  const ids: string[] = [];
  for (const [index, data] of fc.sample(record, { numRuns: 120, seed }).entries()) {
    const { id } = await admin.create('origin', {
      ...data,
      parent: index % 3 === 0 ? null : ids[index - 1],
      friends: ids.slice(-(index % 4)).slice(0, index % 4),
    });
    ids.push(id);
  }
  const exported = async (collection: string, query: string): Promise<string> => {
    const answer = await admin.get(`/api/v1/records/${collection}/export?${query}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.text;
  };

  for (const format of ['csv', 'ndjson', 'json'] as const) {
    for (const order of ['', 'created,id']) {
      await t.test(`${format} sorted by ${order || 'nothing'} [export §3.5]`, async () => {
        const copy = `copy_${format}_${order.length}`;
        await define(copy);
        const before = await exported('origin', `format=${format}&sort=${order}`);
        const job = await imported(admin, copy, { format, keep: 'id,created,updated' }, before);
        assert.deepEqual(countsOf(job), { total: ids.length, read: ids.length, done: ids.length });
        assert.equal(await exported(copy, `format=${format}&sort=${order}`), before);
      });
    }
  }
});
