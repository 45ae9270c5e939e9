import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Answer, type RecordsFixture, skipWithoutDatabase, startRecords } from './records-fixture.ts';
import { testCollection } from './test-collection.ts';

const names = ({ rows }: Answer) => rows.map(({ name }) => name);

describe('reading records', { skip: skipWithoutDatabase }, () => {
  let records: RecordsFixture;
  let ids: string[];

  before(async () => {
    records = await startRecords([
      testCollection('items', [
        { name: 'name' },
        { name: 'rank', type: 'number' },
        { name: 'ok', type: 'bool' },
        { name: 'at', type: 'date' },
        { name: 'kind', type: 'select', options: { values: ['a', 'b'], multiple: false } },
        { name: 'tags', type: 'select', options: { values: ['x', 'y'], multiple: true } },
        { name: 'extra', type: 'json' },
      ]),
      // Fields with the names of aliases in the statements, and more fields than a function has arguments.
      testCollection('wide', [
        ...['r', 't', 's', 'n', 'o', 'p', 'e', 'c', 'old', 'new', 'shown', 'record', 'Order', 'user'].map((name) => ({
          name,
        })),
        ...Array.from({ length: 60 }, (_, index) => ({ name: `f${index}` })),
      ]),
      testCollection('nothing', []),
    ]);
    ids = [];
    for (const body of [
      {
        name: 'one',
        rank: 3,
        ok: true,
        at: '2024-01-02T03:04:05Z',
        kind: 'a',
        tags: ['y', 'x'],
        extra: { a: [1, null] },
      },
      { name: 'two', rank: null },
      { name: 'three', rank: 1.5, extra: 'text' },
      { name: 'four', rank: 1.5 },
    ]) {
      const { record } = await records.send('POST', '/api/items', { body });
      ids.push(record.id);
    }
    await records.database.query({ text: 'update records.items set created_at = 1700000000', values: [] });
  });
  after(() => records?.stop());

  describe('get', () => {
    it('returns the record with its ETag', async () => {
      const { status, headers, record, text } = await records.send('GET', `/api/items/${ids[0]}`);
      assert.equal(status, 200);
      assert.equal(headers.get('content-type'), 'application/json; charset=utf-8');
      assert.equal(headers.get('etag'), `W/"${record.updated}"`);
      assert.match(text, /^\{"data":\{"id":"[0-9a-f-]{36}","name":"one","rank":3,/);
      assert.deepEqual(record, {
        id: ids[0],
        name: 'one',
        rank: 3,
        ok: true,
        at: 1704164645,
        kind: 'a',
        tags: ['y', 'x'],
        extra: { a: [1, null] },
        created: 1700000000,
        updated: record.updated,
      });
    });

    it('answers 304 without a body to a caller with the current version', async () => {
      const first = await records.send('GET', `/api/v1/items/${ids[0]}`);
      const etag = first.headers.get('etag') ?? '';
      for (const header of [etag, etag.slice(2), `"1", ${etag}`, '*']) {
        const { status, text, headers } = await records.send('GET', `/api/v1/items/${ids[0]}`, {
          headers: { 'if-none-match': header },
        });
        assert.deepEqual([status, text, headers.get('etag')], [304, '', etag], header);
      }
      const other = await records.send('GET', `/api/v1/items/${ids[0]}`, { headers: { 'if-none-match': '"1"' } });
      assert.equal(other.status, 200);
    });

    it('answers HEAD with headers only', async () => {
      const { status, text, headers } = await records.send('HEAD', `/api/v1/records/items/${ids[0]}`);
      assert.deepEqual([status, text], [200, '']);
      assert.ok(Number(headers.get('content-length')) > 100);
    });

    it('returns the members that `fields` names, and the id', async () => {
      const { json } = await records.send('GET', `/api/items/${ids[0]}?fields=name,%20created,absent`);
      assert.deepEqual(json, { data: { id: ids[0], name: 'one', created: 1700000000 } });
    });

    it('answers 404 for an id that no record can have', async () => {
      for (const id of ['x', '%00', 'a'.repeat(300), "'%20or%201=1"]) {
        const { status, json } = await records.send('GET', `/api/items/${id}`);
        assert.deepEqual([status, json.code, json.error], [404, 'not_found', 'record not found'], id);
      }
    });

    it('reads fields with any name, and more than 50 fields', async () => {
      const body = { r: 'R', t: 'T', s: 'S', old: 'O', Order: 'U', f59: 'last' };
      const made = await records.send('POST', '/api/wide', { body });
      assert.equal(made.status, 201);
      const patched = await records.send('PATCH', `/api/wide/${made.record.id}`, { body: { n: 'N', record: 'X' } });
      const listed = await records.send('GET', '/api/wide?sort=r,-Order');
      const got = await records.send('GET', `/api/wide/${made.record.id}`);
      for (const record of [patched.record, ...listed.rows, got.record]) {
        assert.equal(Object.keys(record).length, 77);
        const { r, t, s, n, old, Order, f59, record: own } = record;
        assert.deepEqual({ r, t, s, n, old, Order, f59, own }, { ...body, n: 'N', own: 'X' });
      }
      assert.equal((await records.send('DELETE', `/api/wide/${got.record.id}`)).status, 200);
    });

    it('reads a collection without fields', async () => {
      const made = await records.send('POST', '/api/nothing', { body: {} });
      assert.deepEqual(Object.keys(made.record), ['id', 'created', 'updated']);
      const patched = await records.send('PATCH', `/api/nothing/${made.record.id}`, { body: {} });
      assert.notEqual(patched.version, made.version);
    });
  });

  describe('list', () => {
    it('returns the newest records first with totals, and equal times by id', async () => {
      const { status, json, rows, text } = await records.send('GET', '/api/items');
      assert.equal(status, 200);
      assert.match(text, /^\{"data":\[\{/);
      assert.deepEqual(Object.keys(json), ['data', 'page', 'perPage', 'totalItems', 'totalPages']);
      const { data, ...counts } = json;
      assert.deepEqual(counts, { page: 1, perPage: 30, totalItems: 4, totalPages: 1 });
      assert.deepEqual(
        rows.map(({ id }) => id),
        ids.toReversed(),
      );
    });

    it('returns pages that do not overlap', async () => {
      const pages = [];
      for (const page of [1, 2, 3]) {
        const answer = await records.send('GET', `/api/items?perPage=2&page=${page}&sort=rank`);
        const { data, ...counts } = answer.json;
        assert.deepEqual(counts, { page, perPage: 2, totalItems: 4, totalPages: 2 });
        pages.push(names(answer));
      }
      assert.deepEqual(pages, [['three', 'four'], ['one', 'two'], []]);
    });

    const rows: [string, string, Record<string, number>][] = [
      ['does not count with skipTotal', 'skipTotal=1', { page: 1, perPage: 30, totalItems: -1, totalPages: -1 }],
      ['reads skipTotal=true', 'skipTotal=true&perPage=7', { page: 1, perPage: 7, totalItems: -1, totalPages: -1 }],
      ['reads skipTotal=false', 'skipTotal=false', { page: 1, perPage: 30, totalItems: 4, totalPages: 1 }],
      ['clamps perPage', 'perPage=5000', { page: 1, perPage: 1000, totalItems: 4, totalPages: 1 }],
      ['takes perPage=0 for the default', 'perPage=0', { page: 1, perPage: 30, totalItems: 4, totalPages: 1 }],
      [
        'takes a negative perPage for the default',
        'perPage=-3',
        { page: 1, perPage: 30, totalItems: 4, totalPages: 1 },
      ],
      [
        'takes a page before the first for the first',
        'page=-1',
        { page: 1, perPage: 30, totalItems: 4, totalPages: 1 },
      ],
      [
        'takes empty parameters for absent ones',
        'page=&perPage=&sort=&fields=&filter=&expand=&skipTotal=',
        { page: 1, perPage: 30, totalItems: 4, totalPages: 1 },
      ],
      ['ignores unknown parameters', 'colour=red', { page: 1, perPage: 30, totalItems: 4, totalPages: 1 }],
    ];
    for (const [title, search, expected] of rows) {
      it(title, async () => {
        const { status, json, rows } = await records.send('GET', `/api/items?${search}`);
        const { data, ...counts } = json;
        assert.deepEqual([status, counts, rows.length], [200, expected, 4]);
      });
    }

    it('returns no rows for a huge page', async () => {
      for (const page of ['2', '9007199254740993', '9'.repeat(400)]) {
        const { status, json } = await records.send('GET', `/api/items?page=${page}&perPage=4`);
        assert.deepEqual([status, json.data, json.totalItems], [200, [], 4]);
      }
    });

    it('has no pages for an empty collection', async () => {
      const { json } = await records.send('GET', '/api/wide?page=3');
      assert.deepEqual(json, { data: [], page: 3, perPage: 30, totalItems: 0, totalPages: 0 });
    });

    const orders: [string, string[]][] = [
      ['rank', ['three', 'four', 'one', 'two']],
      ['-rank', ['two', 'one', 'four', 'three']],
      ['rank,-name', ['three', 'four', 'one', 'two']],
      ['-rank,name', ['two', 'one', 'four', 'three']],
      ['created', ['one', 'two', 'three', 'four']],
      ['-created', ['four', 'three', 'two', 'one']],
      ['created_at,id', ['one', 'two', 'three', 'four']],
      ['-id', ['four', 'three', 'two', 'one']],
      ['ok,name', ['one', 'four', 'three', 'two']],
    ];
    for (const [sort, expected] of orders) {
      it(`sorts by ${sort}, nulls last ascending and first descending`, async () => {
        assert.deepEqual(names(await records.send('GET', `/api/items?sort=${sort}`)), expected);
      });
    }

    it('returns the members that `fields` names, and the id', async () => {
      const { json } = await records.send('GET', '/api/items?fields=rank&sort=created&perPage=1');
      assert.deepEqual(json.data, [{ id: ids[0], rank: 3 }]);
    });

    const refused: [string, RegExp][] = [
      ['page=x', /^page: must be a whole number/],
      ['page=1.5', /^page/],
      ['perPage=1e3', /^perPage/],
      ['skipTotal=maybe', /^skipTotal/],
      ['sort=nope', /^sort: items has no field "nope"/],
      ['sort=-', /^sort/],
      ['sort=kind.name', /^sort/],
      ['filter=nope%3D1', /^filter: items has no field "nope"/],
      ['expand=x', /^expand: items has no relation "x"/],
      ['expand=kind', /^expand/],
      ['expand=,', /^expand/],
      ['nearVector=[1]', /^nearVectorField: is required/],
    ];
    for (const [search, message] of refused) {
      it(`refuses ${search}`, async () => {
        const { status, json } = await records.send('GET', `/api/items?${search}`);
        assert.deepEqual([status, json.code], [400, 'malformed_request']);
        assert.match(json.error ?? '', message);
      });
    }
  });
});
