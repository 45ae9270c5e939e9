import assert from 'node:assert/strict';
import { is } from '../harness/matching.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

const path = '/api/v1/records/measures';

interface Page {
  readonly data: readonly { readonly id: string }[];
  readonly next: string | null;
}

onEachTopology('lists by cursor', async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name: 'stations', type: 'base', fields: [{ name: 'name', type: 'text' }] });
  await admin.post('/api/v1/collections', {
    name: 'measures',
    type: 'base',
    fields: [
      { name: 'label', type: 'text' },
      { name: 'value', type: 'number' },
      { name: 'good', type: 'bool' },
      { name: 'at', type: 'date' },
      { name: 'extra', type: 'json' },
      { name: 'tags', type: 'select', options: { values: ['a', 'b', 'c'], multiple: true } },
      { name: 'station', type: 'relation', collection: 'stations' },
      { name: 'note', type: 'text' },
      { name: 'place', type: 'vector', options: { dimensions: 2 } },
    ],
  });
  const stations = [
    await admin.create('stations', { name: 'north' }),
    await admin.create('stations', { name: 'south' }),
    await admin.create('stations', {}),
  ];
  /** Few different values, including null, so that sorts have ties. */
  const pick = <T>(values: readonly T[], n: number): T => values[n % values.length] as T;
  const make = (n: number) =>
    admin.create('measures', {
      label: pick([null, 'a', 'b', 'ä', ''], n),
      value: pick([1.5, null, -0.1, 1e300], n),
      good: pick([true, false, null], n),
      at: pick([1_700_000_000, null, 1_600_000_000], n >> 1),
      extra: pick([{ rank: 1 }, null, { rank: null }, { rank: 'x' }, 7], n),
      tags: pick([['a'], [], ['b', 'c']], n >> 2),
      station: pick([...stations.map(({ id }) => id), null], n >> 1),
    });
  for (let n = 0; n < 40; n += 1) await make(n);

  async function readPages(query: string, afterPage?: (pages: number) => Promise<unknown>): Promise<string[]> {
    const ids: string[] = [];
    let pages = 0;
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = (await admin.get(`${path}?${query}&cursor=${cursor}`)).json as Page;
      ids.push(...page.data.map(({ id }) => id));
      cursor = page.next;
      pages += 1;
      await afterPage?.(pages);
    }
    return ids;
  }
  async function readWhole(query: string): Promise<string[]> {
    const { data } = (await admin.get(`${path}?${query}&perPage=1000`)).json as Page;
    return data.map(({ id }) => id);
  }

  for (const sort of [
    '',
    'created',
    'id',
    '-id',
    'label',
    '-label',
    'value',
    '-value',
    'at,-value',
    '-at,label,good',
    'good,at,value,label',
    '-good,-at,-value',
    'extra',
    '-extra.rank',
    'tags,-label',
    'station.name',
    '-station.name,value',
    'label,-id',
  ])
    await t.test(`pages of ${sort || 'the default order'} are the whole list's [records §3.6]`, async () => {
      const query = `sort=${sort}&filter=${encodeURIComponent('value = null || value < 1000000 || good = true')}`;
      for (const one of [query, `sort=${sort}`]) {
        const whole = await readWhole(one);
        assert.deepEqual(await readPages(`${one}&perPage=7`), whole);
        assert.deepEqual(await readPages(`${one}&perPage=10`), whole);
      }
    });

  await t.test('no record is repeated or skipped while others are written [records §3.6]', async () => {
    const before = await readWhole('sort=-value');
    const gone = new Set<string>();
    const made = new Set<string>();
    const read = await readPages('sort=-value&perPage=5', async (pages) => {
      const victim = before[pages * 3] as string;
      await admin.delete(`${path}/${victim}`);
      gone.add(victim);
      made.add((await make(pages)).id);
    });
    assert.equal(new Set(read).size, read.length);
    const stayed = before.filter((id) => !gone.has(id));
    assert.deepEqual(
      read.filter((id) => stayed.includes(id)),
      stayed,
    );
  });

  const first = (await admin.get(`${path}?perPage=3&sort=label&cursor=`)).json as Page;
  const cursor = String(first.next);
  const forged = (values: unknown[]) =>
    Buffer.from(`${Buffer.from(cursor, 'base64url').toString().slice(0, 16)}${JSON.stringify(values)}`).toString(
      'base64url',
    );
  const refused = (name: string, query: string, error: RegExp, as: Scenario['as'] = 'admin'): Scenario => ({
    name,
    as,
    request: `GET ${path}?${query}`,
    expect: { status: 400, json: is.containing({ error: is.matching(error) }) },
    spec: 'records §3.6',
  });
  await admin.patch('/api/v1/collections/measures', { list_rule: null });
  await runScenarios(t, target, [
    {
      name: 'a page has no totals and no number',
      as: 'admin',
      request: `GET ${path}?cursor=&perPage=1&sort=label&fields=id`,
      expect: { status: 200, json: { data: [{ id: is.text }], perPage: 1, next: is.text } },
      spec: 'records §3.6',
    },
    {
      name: 'the last page has next: null',
      as: 'admin',
      request: `GET ${path}?cursor=&perPage=1&filter=${encodeURIComponent(`id = "${first.data[0]?.id}"`)}`,
      expect: { status: 200, json: is.containing({ next: null }) },
      spec: 'records §3.6',
    },
    refused('a text that is not a cursor', 'sort=label&cursor=abc', /cursor: is not a cursor/),
    refused('a cursor of another sort', `sort=-label&cursor=${cursor}`, /belongs to another/),
    refused('a cursor of another filter', `sort=label&filter=good=true&cursor=${cursor}`, /belongs to another/),
    refused('a cursor of another caller', `sort=label&cursor=${cursor}`, /belongs to another/, 'guest'),
    refused('a cursor with too few values', `sort=label&cursor=${forged(['a'])}`, /does not fit/),
    refused('a cursor with a value of another kind', `sort=label&cursor=${forged([1, 'x'])}`, /does not fit/),
    refused('a cursor with a null id', `sort=label&cursor=${forged(['a', null])}`, /does not fit/),
    refused('a cursor with NUL', `sort=label&cursor=${forged(['a\0', 'x'])}`, /does not fit/),
    refused('a sort by a vector', 'sort=place&cursor=', /sort: a cursor cannot hold a vector/),
    refused('a cursor and a page', `sort=label&page=2&cursor=${cursor}`, /cannot be combined/),
    refused('a cursor of 1 MB', `sort=label&cursor=${'a'.repeat(17_000)}`, /at most 16500/),
  ]);

  await t.test('a value that is too long for a cursor is 422 [records §3.6]', async () => {
    for (let n = 0; n < 2; n += 1) await admin.create('measures', { note: 'n'.repeat(5000) });
    const { status, json } = await admin.send('GET', `${path}?cursor=&sort=note&perPage=1`);
    assert.deepEqual([status, (json as { code?: string }).code], [422, 'cursor_too_long']);
  });
});
