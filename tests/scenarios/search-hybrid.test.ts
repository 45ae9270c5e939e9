import assert from 'node:assert/strict';
import type { Client } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { at, type JsonObject, listAt, numberAt, objectAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology, onOneProcess, type Target } from '../harness/stacks/target.ts';
import { createRandom } from './random.ts';
import { untilReady } from './search-ready.ts';

const fields = [
  { name: 'title', type: 'text' },
  { name: 'body', type: 'text' },
  { name: 'owner', type: 'text' },
  { name: 'status', type: 'text' },
  { name: 'spot', type: 'vector', options: { dimensions: 3 } },
];
const index = {
  name: 'words',
  type: 'search',
  fields: [{ field: 'title', weight: 'A' }, { field: 'body' }],
  language: 'english',
};

/** Creates a collection, its records, and then its index. */
async function define<T>(
  target: Target,
  name: string,
  listRule: string,
  fill: (admin: Client) => Promise<T>,
): Promise<T> {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', { name, type: 'base', fields, list_rule: listRule });
  const filled = await fill(admin);
  await admin.post(`/api/v1/admin/collections/${name}/indexes`, index);
  await untilReady(admin, name);
  await eventually('every replica searches', async () => (await admin.get(`/api/v1/${name}?search=x`)).status === 200);
  return filled;
}

const query = (given: object): string =>
  Object.entries(given)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
    .join('&');

const nearby = (vector: readonly number[], more: object = {}) => ({
  nearVector: JSON.stringify(vector),
  nearVectorField: 'spot',
  ...more,
});

onEachTopology('a hybrid search', async (t, target) => {
  const { museum, gallery, cafe, plan, hidden } = await define(
    target,
    'places',
    'status != "hidden"',
    async (admin) => {
      const make = (title: string, spot: readonly number[] | null, more: object = {}) =>
        admin.create('places', { title, spot, ...more });
      return {
        museum: await make('Museum of the sea', [1, 0, 0]),
        gallery: await make('Gallery', [0.9, 0.1, 0]),
        cafe: await make('Museum cafe', [0, 1, 0], { body: 'cakes' }),
        plan: await make('Plans for a museum somewhere', null),
        hidden: await make('Museum vault', [1, 0, 0], { status: 'hidden' }),
      };
    },
  );
  const path = (given: object) => `GET /api/v1/places?${query({ fields: 'title', ...nearby([1, 0, 0]), ...given })}`;
  const shows = (name: string, given: object, found: readonly JsonObject[], more: object = {}): Scenario => ({
    name,
    request: path(given),
    expect: {
      status: 200,
      json: is.containing({
        data: found.map((one) => is.containing({ id: one.id })),
        totalItems: found.length,
        ...more,
      }),
    },
    spec: 'search §7.1',
  });
  const invalid = (name: string, given: object): Scenario => ({
    name,
    request: path(given),
    expect: { status: 400, json: is.containing({ code: is.code }) },
    spec: 'search §7.4',
  });

  await runScenarios(t, target, [
    shows('records of both lists come first', { search: 'museum' }, [museum, cafe, plan, gallery]),
    shows('the text only', { search: 'museum', hybrid: 0 }, [museum, plan, cafe]),
    shows('the vectors only', { search: 'museum', hybrid: 1 }, [museum, gallery, cafe]),
    shows('vectors count more', { search: 'museum', hybrid: 0.9 }, [museum, cafe, gallery, plan]),
    shows('unwanted words count in both lists', { search: 'museum -cakes' }, [museum, plan, gallery]),
    shows('nothing but unwanted words', { search: '-cakes' }, [museum, gallery]),
    shows('nothing but stop words', { search: 'the' }, [museum, gallery, cafe]),
    shows('unwanted words in some fields', { search: 'museum -cakes', searchFields: 'title' }, [
      museum,
      cafe,
      gallery,
      plan,
    ]),
    shows('a text that nobody has', { search: 'zebra' }, [museum, gallery, cafe]),
    shows('a lowest score for the vectors', { search: 'sea', nearMinScore: 0.95 }, [museum, gallery]),
    shows('nearLimit does not count', { search: 'sea', nearLimit: 1 }, [museum, gallery, cafe]),
    shows('a filter for both lists', { search: 'museum', filter: 'title != "Gallery"' }, [museum, cafe, plan]),
    shows('a sort', { search: 'museum', sort: 'title' }, [gallery, cafe, museum, plan]),
    shows('a typo', { search: 'musuem' }, [museum, cafe, plan, gallery], { corrected: { musuem: ['museum'] } }),
    {
      name: 'a record that is first in both lists has score 1',
      request: path({ search: 'sea', fields: 'title,_score,_highlight', highlight: 'title', perPage: 1 }),
      expect: {
        status: 200,
        json: {
          data: [
            { id: museum.id, title: museum.title, _score: 1, _highlight: { title: 'Museum of the <mark>sea</mark>' } },
          ],
          page: 1,
          perPage: 1,
          totalItems: 3,
          totalPages: 3,
        },
      },
      spec: 'search §7.2',
    },
    {
      name: 'a hidden record for one who may see it',
      as: 'admin',
      request: path({ search: 'vault' }),
      expect: { status: 200, json: is.containing({ data: is.listWith(is.containing({ id: hidden.id })) }) },
      spec: 'search §7.1',
    },
    invalid('a weight below 0', { search: 'museum', hybrid: -0.1 }),
    invalid('a weight above 1', { search: 'museum', hybrid: 1.1 }),
    invalid('a weight that is not a number', { search: 'museum', hybrid: 'half' }),
    invalid('a cursor', { search: 'museum', cursor: '' }),
    invalid('a field that is not a vector', { search: 'museum', nearVectorField: 'title' }),
    invalid('a collection without a search index', { search: 'museum', searchFields: 'status' }),
  ]);
});

const words = ['sea', 'ship', 'garden', 'museum', 'coffee', 'tulip', 'harbour', 'bridge'];
const listLength = 200;

interface Found extends JsonObject {
  readonly id: string;
  readonly created: number;
}

/** What a hybrid search of two lists has to answer: the ids with their scores. */
function fuse(texts: readonly Found[], nearest: readonly Found[], weight: number) {
  const found = new Map<string, { record: Found; score: number }>();
  const add = (list: readonly Found[], part: number) => {
    for (const [place, record] of list.slice(0, listLength).entries()) {
      const score = (found.get(record.id)?.score ?? 0) + (part * 61) / (61 + place);
      found.set(record.id, { record, score });
    }
  };
  if (weight < 1) add(texts, 1 - weight);
  add(nearest, weight);
  return [...found.values()].sort(
    (a, b) => b.score - a.score || b.record.created - a.record.created || (a.record.id < b.record.id ? 1 : -1),
  );
}

onOneProcess('a hybrid search answers what a search and a vector search give', async (t, target) => {
  const random = createRandom(11);
  const pick = () => words[random(words.length)] ?? '';
  const several = (count: number) => Array.from({ length: count }, pick).join(' ');
  const vector = () => Array.from({ length: 3 }, () => random(2001) / 1000 - 1);
  const user = await target.user();
  const operations = Array.from({ length: 600 }, () => ({
    op: 'create',
    collection: 'notes',
    data: {
      title: several(2),
      body: several(4),
      owner: random(3) === 0 ? user.id : 'another',
      status: random(4) === 0 ? 'draft' : 'public',
      spot: random(5) === 0 ? null : vector(),
    },
  }));
  const admin = await target.admin();
  await define(target, 'notes', 'owner = @request.auth.id || status = "public"', async () => {
    const { status, text } = await admin.send('POST', '/api/v1/batch', { body: { operations } });
    assert.equal(status, 200, text);
  });
  const read = async (client: Client, given: object): Promise<unknown> => {
    const answer = await client.get(`/api/v1/notes?${query({ perPage: 1000, ...given })}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.json;
  };
  const found = async (client: Client, given: object) => listAt(await read(client, given), 'data') as readonly Found[];

  for (const [name, client] of Object.entries({ guest: target.guest, user, admin }))
    await t.test(`${name} [search §7]`, async () => {
      for (let round = 0; round < 12; round += 1) {
        const search = several(1 + random(2));
        const unwanted = random(3) === 0 ? pick() : undefined;
        const near = nearby(vector(), random(4) === 0 ? { nearMinScore: 0.2 } : {});
        const weight = [0.25, 0.5, 0.8, 1][random(4)] ?? 0;
        const select = random(2) === 0 ? { filter: 'status = "public"' } : {};
        const mode = { ...select, searchMode: random(2) === 0 ? 'all' : 'any' };
        const written = unwanted ? `${search} -${unwanted}` : search;
        const texts = await found(client, { ...mode, search: written });
        const nearest = await found(client, { ...select, ...near, nearLimit: listLength });
        const admitted = new Set((await found(client, { search: `-${unwanted}` })).map(({ id }) => id));
        const left = unwanted ? nearest.filter(({ id }) => admitted.has(id)) : nearest;
        const expected = fuse(texts, left, weight);
        const given = { ...mode, ...near, search: written, hybrid: weight, facets: 'status' };
        const answer = await read(client, given);
        const rows = listAt(answer, 'data');
        assert.deepEqual(
          rows.map(({ id }) => id),
          expected.map(({ record }) => record.id),
          JSON.stringify(given),
        );
        for (const [place, row] of rows.entries())
          assert.ok(Math.abs(numberAt(row, '_score') - (expected[place]?.score ?? 0)) < 1e-6, JSON.stringify(given));
        assert.equal(numberAt(answer, 'totalItems'), expected.length);
        const counts = Object.values(objectAt(answer, 'facets.status')).reduce<number>((sum, n) => sum + Number(n), 0);
        assert.equal(counts, expected.length);
        const second = await read(client, { ...given, page: 2, perPage: 7 });
        assert.deepEqual(
          listAt(second, 'data').map(({ id }) => id),
          expected.slice(7, 14).map(({ record }) => record.id),
        );
        assert.equal(at(second, 'totalPages'), Math.ceil(expected.length / 7));
      }
    });
});
