import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import {
  type RecordsFixture,
  type Sent,
  type ShownRecord,
  skipWithoutDatabase,
  startRecords,
} from './records-fixture.ts';
import { testCollection } from './test-collection.ts';

const relation = (name: string, collection: string) => ({ name, type: 'relation', collection }) as const;
const vector = (name: string, dimensions: number) => ({ name, type: 'vector', options: { dimensions } }) as const;
const list = (rule: string | null) => ({
  rules: { list: rule, view: null, create: null, update: null, delete: null },
});

/** Numbers between -1 and 1, the same in each run (a linear congruential generator). */
function createNumbers(): () => number {
  let state = 42;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 31 - 1;
  };
}

const exactCosine = (a: readonly number[], b: readonly number[]): number => {
  const dot = (x: readonly number[], y: readonly number[]) =>
    x.reduce((sum, value, index) => sum + value * (y[index] ?? 0), 0);
  const length = Math.sqrt(dot(a, a) * dot(b, b));
  return length === 0 ? 0 : dot(a, b) / length;
};

const dimensions = 24;
const count = 3000;

/** Whether pgvector can be installed on the server. */
async function isExtensionThere(): Promise<boolean> {
  if (!process.env.TEST_DATABASE_URL) return false;
  const client = new pg.Client(process.env.TEST_DATABASE_URL);
  await client.connect();
  const { rows } = await client.query("select from pg_available_extensions where name = 'vector'");
  await client.end();
  return rows.length > 0;
}

const skipWithoutExtension = skipWithoutDatabase || (!(await isExtensionThere()) && 'the server has no pgvector');
const hardlyAny = { vectorMemoryBytes: 200_000 };

for (const { title, options, extension, skip } of [
  { title: 'vector search', options: {}, extension: false, skip: skipWithoutDatabase },
  { title: 'vector search with hardly any memory', options: hardlyAny, extension: false, skip: skipWithoutDatabase },
  { title: 'vector search with pgvector', options: hardlyAny, extension: true, skip: skipWithoutExtension },
])
  describe(title, { skip }, () => {
    let records: RecordsFixture;
    let stored: { id: string; title: string; v: number[]; owner: string | null }[];
    const numbers = createNumbers();
    const randomVector = () => Array.from({ length: dimensions }, numbers);

    before(async () => {
      records = await startRecords(
        [
          testCollection('authors', [{ name: 'name' }]),
          testCollection('docs', [
            { name: 'title' },
            { name: 'owner' },
            vector('v', dimensions),
            relation('author', 'authors'),
          ]),
          testCollection(
            'owned',
            [{ name: 'title' }, { name: 'owner' }, vector('v', 2)],
            list('owner = @request.auth.id'),
          ),
          testCollection('small', [{ name: 'title' }, vector('v', 2), vector('w', 3)]),
          testCollection('wide', [vector('v', 4096)]),
          testCollection('seen', [{ name: 'owner' }, vector('v', dimensions)], {
            type: 'view',
            viewQuery: 'select id, owner, v, created_at, updated_at from records.docs',
          }),
        ],
        options,
      );
      if (extension) await records.database.query({ text: 'create extension vector', values: [] });
      stored = Array.from({ length: count }, (_, index) => ({
        id: `d${String(index).padStart(5, '0')}`,
        title: `title ${index}`,
        // Some have nearly the same direction, some exactly the same, some none.
        v:
          index % 500 === 3
            ? Array.from({ length: dimensions }, () => 0)
            : index % 100 === 1
              ? [...near]
              : randomVector(),
        owner: index % 2 ? 'odd' : 'even',
      }));
      for (let index = 0; index < count; index += 50)
        stored[index]?.v.splice(0, dimensions, ...near.map((value) => value * (1 + numbers() * 1e-7)));
      await records.database.query({
        text: `insert into records.docs (id, title, owner, v, created_at, updated_at)
          select r.id, r.title, r.owner, r.v, 1, 1 from json_populate_recordset(null::records.docs, $1) r`,
        values: [JSON.stringify(stored)],
      });
    });
    after(() => records?.stop());

    const near = Array.from({ length: dimensions }, numbers);
    const search = (collection: string, vector: unknown, field = 'v', more = '', sent?: Sent) =>
      records.send(
        'GET',
        `/api/${collection}?nearVector=${encodeURIComponent(JSON.stringify(vector))}&nearVectorField=${field}${more}`,
        sent,
      );
    const found = (rows: readonly ShownRecord[]) => rows.map(({ id, _score }) => [id, _score]);
    const expected = (asked: readonly number[], limit: number, keep = (_: (typeof stored)[number]) => true) =>
      stored
        .filter(keep)
        .map(({ id, v }) => ({ id, score: exactCosine(asked, v) }))
        .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
        .slice(0, limit);
    const assertFound = (rows: readonly ShownRecord[], best: { id: string; score: number }[]) => {
      assert.equal(rows.length, best.length);
      for (const [index, { score }] of best.entries()) {
        const row = rows[index];
        assert.ok(Math.abs(Number(row?._score) - score) < 1e-9, `${index}: ${row?._score} is not ${score}`);
        const own = stored.find(({ id }) => id === row?.id);
        assert.ok(own && Math.abs(Number(row?._score) - exactCosine(asked(rows), own.v)) < 1e-9);
      }
      const scores = rows.map(({ _score }) => Number(_score));
      assert.deepEqual(
        scores,
        scores.toSorted((a, b) => b - a),
      );
    };
    let lastAsked: readonly number[] = [];
    const asked = (_: unknown) => lastAsked;

    it('finds the exact top k for any vector, cold and warm', async () => {
      for (const [limit, question] of [
        [10, randomVector()],
        [10, near],
        [1, randomVector()],
        [1000, randomVector()],
        [70, near.map((value) => -value * 1e200)],
        [10, near.map((value) => value * 1e-200)],
      ] as const) {
        lastAsked = question.map((value) => value / Math.max(...question.map(Math.abs)));
        for (const _ of [1, 2]) {
          const { rows, json, text } = await search('docs', question, 'v', `&nearLimit=${limit}`);
          assert.ok(rows, text);
          assertFound(rows, expected(lastAsked, limit));
          const { data, ...counts } = json;
          assert.deepEqual(counts, { page: 1, perPage: limit, totalItems: limit, totalPages: 1 });
        }
      }
    });

    it('ranks the records that the filter admits', async () => {
      lastAsked = near;
      const { rows } = await search('docs', near, 'v', `&filter=${encodeURIComponent('owner = "odd" && title ~ "7"')}`);
      assertFound(
        rows,
        expected(near, 10, ({ owner, title }) => owner === 'odd' && title.includes('7')),
      );
    });

    it('ranks the rows of a view', async () => {
      lastAsked = near;
      const { rows, text } = await search('seen', near, 'v', `&filter=${encodeURIComponent('owner = "odd"')}`);
      assert.ok(rows, text);
      assertFound(
        rows,
        expected(near, 10, ({ owner }) => owner === 'odd'),
      );
    });

    it('ranks vectors that are too long, too short or too large for single precision', async () => {
      const made: string[] = [];
      for (const scale of [1e-320, 1e-40, 1e-25, 1, 1e25, 1e300]) {
        const v = near.map((value, index) => (value + (index === 0 ? 1 : 0)) * scale);
        made.push((await records.send('POST', '/api/docs', { body: { v } })).record.id);
      }
      lastAsked = near;
      const question = near.map((value, index) => value + (index === 0 ? 1 : 0));
      for (const collection of ['docs', 'seen']) {
        const { rows } = await search(collection, question, 'v', '&nearLimit=6');
        assert.deepEqual(rows.map(({ id }) => id).toSorted(), made.toSorted());
      }
      for (const id of made) await records.send('DELETE', `/api/docs/${id}`);
    });

    it('leaves out scores below nearMinScore, and keeps equal ones', async () => {
      const { rows } = await search('docs', near, 'v', '&nearMinScore=1&nearLimit=1000');
      assert.ok(rows.length >= count / 100);
      assert.ok(rows.every(({ _score }) => _score === 1));
      const none = await search('docs', near, 'v', '&nearMinScore=1.1');
      const { data, totalItems, totalPages } = none.json as { data: unknown; totalItems: number; totalPages: number };
      assert.deepEqual([data, totalItems, totalPages], [[], 0, 0]);
    });

    it('shows the record with its score, with fields and expand applied', async () => {
      const { record: author } = await records.send('POST', '/api/authors', { body: { name: 'Ada' } });
      const v = near.map((value, index) => (index === 0 ? value + 3 : value));
      const { record } = await records.send('POST', '/api/docs', { body: { title: 'new', v, author: author.id } });
      assert.deepEqual(record.v, v);
      const { rows } = await search('docs', v, 'v', '&nearLimit=1&expand=author');
      assert.deepEqual(rows, [{ ...record, expand: { author }, _score: 1 }]);
      const some = await search('docs', v, 'v', '&nearLimit=1&expand=author&fields=title,expand.author.name');
      const expand = { author: { id: author.id, name: 'Ada' } };
      assert.deepEqual(some.rows, [{ id: record.id, title: 'new', expand, _score: 1 }]);
      await records.send('DELETE', `/api/docs/${record.id}`);
    });

    it('sees every write at once', async () => {
      const question = [1, 0];
      const ids = async () => found((await search('small', question)).rows);
      assert.deepEqual(await ids(), []);
      const make = async (v: number[] | null) => (await records.send('POST', '/api/small', { body: { v } })).record.id;
      const a = await make([1, 0]);
      const b = await make([0, 1]);
      const c = await make([-2, 0]);
      await make(null);
      assert.deepEqual(await ids(), [
        [a, 1],
        [b, 0],
        [c, -1],
      ]);
      await records.send('PATCH', `/api/small/${c}`, { body: { v: [5, 0] } });
      await records.send('PATCH', `/api/small/${b}`, { body: { v: [0, 0] } });
      assert.deepEqual(await ids(), [
        [a, 1],
        [c, 1],
        [b, 0],
      ]);
      await records.send('DELETE', `/api/small/${a}`);
      await records.send('PATCH', `/api/small/${c}`, { body: { title: 'the vector stays' } });
      assert.deepEqual(await ids(), [
        [c, 1],
        [b, 0],
      ]);
      await records.database.query({ text: "update records.small set v = '{3,4}' where id = $1", values: [c] });
      assert.deepEqual(await ids(), [
        [c, 0.6],
        [b, 0],
      ]);
      await records.database.query({ text: 'vacuum full records.small', values: [] });
      assert.deepEqual(await ids(), [
        [c, 0.6],
        [b, 0],
      ]);
      assert.deepEqual(
        found((await search('small', [0, 0])).rows),
        [
          [b, 0],
          [c, 0],
        ].toSorted(),
      );
      await records.database.query({ text: 'truncate records.small', values: [] });
      assert.deepEqual(await ids(), []);
    });

    it('finds only records that the list rule admits', async () => {
      const ids: string[] = [];
      for (const owner of ['u1', 'u2', 'u1']) {
        const body: Record<string, unknown> = { owner, v: [1, ids.length] };
        ids.push((await records.send('POST', '/api/owned', { as: 'admin', body })).record.id);
      }
      const rowsFor = async (as: Sent['as']) =>
        (await search('owned', [1, 0], 'v', '', { as })).rows.map(({ id }) => id);
      for (const _ of [1, 2]) {
        assert.deepEqual(await rowsFor('user'), [ids[0], ids[2]]);
        assert.deepEqual(await rowsFor('guest'), []);
        assert.deepEqual(await rowsFor('admin'), ids);
      }
    });

    it('searches during writes and other searches without losing a row', async () => {
      const rounds = Array.from({ length: 12 }, async (_, index) => {
        const id = stored[index * 7]?.id;
        const { rows } = await search('docs', near, 'v', '&nearLimit=40');
        assert.equal(rows.length, 40);
        const patched = await records.send('PATCH', `/api/docs/${id}`, { body: { title: `again ${index}` } });
        assert.equal(patched.status, 200);
        assert.equal((await search('docs', near, 'v', '&nearLimit=1000')).rows.length, 1000);
      });
      await Promise.all(rounds);
      lastAsked = near;
      assertFound((await search('docs', near, 'v', '&nearLimit=100')).rows, expected(near, 100));
    });

    it('accepts 4,096 dimensions in a query', async () => {
      const v = Array.from({ length: 4096 }, numbers);
      const { record } = await records.send('POST', '/api/wide', { body: { v } });
      assert.deepEqual(record.v, v);
      const { rows } = await search('wide', v, 'v', '&fields=id');
      assert.deepEqual(rows, [{ id: record.id, _score: 1 }]);
    });

    const shown: [string, string, number, number[]][] = [
      ['nearLimit', '&nearLimit=2', 2, [2, 1]],
      ['a nearLimit above 1000', '&nearLimit=5000', 1000, [1000, 1]],
      ['a nearLimit of none', '&nearLimit=0', 10, [10, 1]],
      ['a negative nearLimit', '&nearLimit=-3', 10, [10, 1]],
      ['no page and perPage', '&page=7&perPage=2', 10, [10, 1]],
      ['skipTotal', '&skipTotal=1', 10, [-1, -1]],
      ['empty parameters', '&nearLimit=&nearMinScore=&filter=&expand=', 10, [10, 1]],
    ];
    for (const [what, more, perPage, [totalItems, totalPages]] of shown)
      it(`knows ${what}`, async () => {
        const { json } = await search('docs', near, 'v', `&fields=id${more}`);
        const { data, ...counts } = json;
        assert.deepEqual(counts, { page: 1, perPage, totalItems, totalPages });
        assert.equal((data as unknown[]).length, perPage);
      });

    const refused: [string, number, string, RegExp | Record<string, string>][] = [
      ['no array', 400, 'nearVector=5&nearVectorField=v', /^nearVector: must be a JSON array/],
      ['no JSON', 400, 'nearVector=[1,2&nearVectorField=v', /^nearVector/],
      ['no field', 400, 'nearVector=[1,2]', /^nearVectorField: is required/],
      ['no vector', 400, 'nearVectorField=v', /^nearVector: is required/],
      [
        'an unknown field',
        400,
        'nearVector=[1,2]&nearVectorField=nope',
        /^nearVectorField: small has no vector "nope"/,
      ],
      ['a field of another type', 400, 'nearVector=[1,2]&nearVectorField=title', /^nearVectorField/],
      ['a limit that is no number', 400, 'nearVector=[1,2]&nearVectorField=v&nearLimit=ten', /^nearLimit/],
      ['half a row', 400, 'nearVector=[1,2]&nearVectorField=v&nearLimit=1.5', /^nearLimit/],
      ['a score that is no number', 400, 'nearVector=[1,2]&nearVectorField=v&nearMinScore=high', /^nearMinScore/],
      ['a filter that does not parse', 400, 'nearVector=[1,2]&nearVectorField=v&filter=x', /^filter/],
      ['an unknown sort', 400, 'nearVector=[1,2]&nearVectorField=v&sort=x', /^sort/],
      ['an unknown path', 400, 'nearVector=[1,2]&nearVectorField=v&expand=x', /^expand/],
      ['another length', 422, 'nearVector=[1,2,3]&nearVectorField=v', { nearVector: 'must have 2 numbers' }],
      ['nothing in it', 422, 'nearVector=[]&nearVectorField=v', { nearVector: 'must have 2 numbers' }],
      ['a text in it', 422, 'nearVector=[1,"2"]&nearVectorField=v', { nearVector: 'must consist of finite numbers' }],
      [
        'infinity in it',
        422,
        'nearVector=[1,1e999]&nearVectorField=v',
        { nearVector: 'must consist of finite numbers' },
      ],
    ];
    for (const [what, status, query, problem] of refused)
      it(`answers ${what} with ${status}`, async () => {
        const answer = await records.send('GET', `/api/small?${query}`);
        assert.equal(answer.status, status, answer.text);
        if (problem instanceof RegExp) assert.match(answer.json.error ?? '', problem);
        else assert.deepEqual(answer.json.details, problem);
      });
  });
