import assert from 'node:assert/strict';
import type { Client } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at, type JsonObject, listAt, numberAt, objectAt } from '../harness/json.ts';
import { onOneProcess } from '../harness/stacks/target.ts';
import { createRandom } from './random.ts';

const words = ['sea', 'ship', 'garden', 'museum', 'coffee', 'tulip', 'harbour', 'bridge', 'café', 'old-town'];
const statuses = ['open', 'closed', 'draft'];

const random = createRandom(7);
const pick = (list: readonly string[]): string => list[random(list.length)] ?? '';
const several = (count: number): string => Array.from({ length: count }, () => pick(words)).join(' ');

const searches = [
  ...words,
  ...Array.from({ length: 20 }, () => `${several(1 + random(3))}${random(2) ? ` -${pick(words)}` : ''}`),
  ...Array.from({ length: 5 }, () => `"${several(2)}"`),
  'sea or tulip bridge',
  'secretword',
  'the',
];

const read = async (client: Client, query: string): Promise<unknown> => {
  const { status, json, text } = await client.get(`/api/v1/notes?perPage=200&${query}`);
  assert.equal(status, 200, text);
  return json;
};

/** How many records have which status, as a facet. */
function countStatuses(records: readonly JsonObject[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status } of records) if (typeof status === 'string') counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

onOneProcess('a search tells a caller nothing that a list does not', async (t, target) => {
  const admin = await target.admin();
  const user = await target.user();
  const text = (name: string, more: object = {}) => ({ name, type: 'text', ...more });
  await admin.post('/api/v1/collections', {
    name: 'notes',
    type: 'base',
    fields: [
      text('title'),
      text('body'),
      text('owner'),
      { name: 'public', type: 'bool' },
      text('status', { view_rule: 'public = true || owner = @request.auth.id' }),
    ],
    list_rule: 'public = true || owner = @request.auth.id || title ~ "everyone"',
  });
  await admin.post('/api/v1/admin/collections/notes/indexes', {
    name: 'words',
    type: 'search',
    fields: [{ field: 'title', weight: 'A' }, { field: 'body' }],
    language: 'english',
  });
  for (let n = 0; n < 80; n += 1)
    await admin.create('notes', {
      title: `${several(2)}${random(5) === 0 ? ' everyone' : ''}`,
      body: several(6),
      owner: random(3) === 0 ? user.id : 'another',
      public: random(3) === 0,
      status: pick(statuses),
    });
  await admin.create('notes', { title: 'secretword', body: 'secretword', owner: 'another', status: 'hidden' });
  await eventually('the replica searches', async () => (await admin.get('/api/v1/notes?search=x')).status === 200);
  const callers: Readonly<Record<string, Client>> = { guest: target.guest, user, admin };

  for (const [name, client] of Object.entries(callers)) {
    const visible = new Map(listAt(await read(client, ''), 'data').map((record) => [record.id, record]));
    await t.test(
      `${name}: hits are records of the list, and totals and facets count them [search §2.1, §4.1]`,
      async () => {
        for (const search of searches) {
          const filter = random(2) === 0 ? '' : `&filter=${encodeURIComponent('body ~ "sea"')}`;
          const listed = filter ? new Set(listAt(await read(client, filter), 'data').map(({ id }) => id)) : undefined;
          const answer = await read(client, `search=${encodeURIComponent(search)}&facets=status${filter}`);
          const found = listAt(answer, 'data');
          for (const { _score, ...record } of found) {
            assert.equal(typeof _score, 'number');
            assert.deepEqual(record, visible.get(record.id), search);
            assert.ok(listed?.has(record.id) ?? true, search);
          }
          assert.equal(numberAt(answer, 'totalItems'), found.length, search);
          assert.deepEqual(objectAt(answer, 'facets.status'), countStatuses(found), search);
        }
      },
    );
  }

  await t.test('a word of a hidden record is answered like a word that nobody has [search §2.1]', async () => {
    for (const client of [target.guest, user])
      for (const query of ['', '&sort=title', '&facets=status', '&searchMode=any', '&searchFields=body'])
        assert.deepEqual(
          await read(client, `search=secretword${query}`),
          await read(client, `search=nobodysword${query}`),
        );
    assert.equal(at(await read(admin, 'search=secretword'), 'totalItems'), 1);
  });
});
