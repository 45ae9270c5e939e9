import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { createNamedParameters } from '@recordbus/query';
import type { Collection } from '@recordbus/schema';
import { eventually } from '@recordbus/testing';
import { composeEstimate } from '../src/shape/answer-estimate.ts';
import { readProjection } from '../src/shape/read-projection.ts';
import { type RecordsFixture, type Sent, skipWithoutDatabase, startRecords } from './records-fixture.ts';
import { testCollection } from './test-collection.ts';

const relation = (name: string, collection: string, multiple = false) =>
  ({ name, type: 'relation', collection, options: { cascade: 'setNull', multiple } }) as const;
const view = (rule: string | null) => ({
  rules: { list: null, view: rule, create: null, update: null, delete: null },
});

const numbers = [0, 1, -1, 0.5, 1e300, 1e-7, 123456789];
const values = [null, '', 0, 1, [], {}, [[]], [0], ['a'], { a: 1 }, numbers, Array(150).fill(1), Array(999).fill([])];

describe("an answer's estimate", { skip: skipWithoutDatabase }, () => {
  const samples = testCollection('samples', [
    { name: 't' },
    { name: 'n', type: 'number' },
    { name: 'j', type: 'json' },
    { name: 'v', type: 'vector', options: { dimensions: 3 } },
    { name: 's', type: 'select', options: { values: ['a', 'b'], multiple: true } },
    relation('r', 'samples', true),
  ]);
  let records: RecordsFixture;
  let shelf: string;
  let quote: string;

  before(async () => {
    records = await startRecords([
      samples,
      testCollection('publishers', [{ name: 'name' }]),
      testCollection('tomes', [{ name: 'body' }, relation('publisher', 'publishers')]),
      testCollection('closed', [{ name: 'body' }], view('body = "x"')),
      testCollection('shelves', [relation('tomes', 'tomes', true)]),
      testCollection('quotes', [
        { name: 'nr', type: 'number' },
        relation('tome', 'tomes'),
        relation('hidden', 'closed'),
      ]),
    ]);
    const create = async (collection: string, body: object) => {
      const { record, text } = await records.send('POST', `/api/${collection}`, { as: 'admin', body });
      assert.ok(record?.id, text);
      return record.id;
    };
    const publisher = await create('publishers', { name: 'p' });
    // Text that PostgreSQL cannot compress, so its bytes are in a separate table.
    const body = randomBytes(500_000).toString('hex');
    const tome = await create('tomes', { body, publisher });
    const hidden = await create('closed', { body });
    for (let nr = 0; nr < 60; nr += 1) quote = await create('quotes', { nr, tome, hidden });
    const copies = await records.database.query<{ id: string }>({
      text: `insert into records.tomes select (jsonb_populate_record(t.*, jsonb_build_object('id', gen_random_uuid()))).*
        from records.tomes t, generate_series(1, 39) returning id`,
      values: [],
    });
    const tomes = [tome, ...copies.map(({ id }) => id)];
    shelf = await create('shelves', { tomes });
    for (const [index, j] of values.entries())
      await create('samples', { t: 'é"\n'.repeat(index), n: numbers[index] ?? 0, j, v: [0, 1, 0], s: ['a', 'b'] });
  });
  after(() => records?.stop());

  /** What the database has read from the tables since its start. */
  async function readBlocks() {
    const text = `select relname, idx_scan::int as scans, (toast_blks_read + toast_blks_hit)::int as blocks
      from pg_stat_user_tables join pg_statio_user_tables using (relid, schemaname, relname) where schemaname = 'records'`;
    const rows = await records.database.query<{ relname: string; scans: number; blocks: number }>({ text, values: [] });
    return new Map(rows.map(({ relname, ...counts }) => [relname, counts]));
  }

  /** Returns what the database reads for `work`, once it has counted at least `scans` reads of tomes by their ids. */
  async function measure(scans: number, work: () => Promise<void>) {
    const before = await readBlocks();
    await work();
    let readBy = await readBlocks();
    const since = (name: string) => ({
      scans: (readBy.get(name)?.scans ?? 0) - (before.get(name)?.scans ?? 0),
      blocks: (readBy.get(name)?.blocks ?? 0) - (before.get(name)?.blocks ?? 0),
    });
    await eventually(async () => {
      readBy = await readBlocks();
      return since('tomes').scans >= scans;
    });
    return { tomes: since('tomes'), publishers: since('publishers') };
  }

  it('refuses before the texts are read, and reads none of their relations', async () => {
    const one = await measure(1, async () => {
      assert.equal((await records.send('GET', `/api/quotes/${quote}?expand=tome`, { as: 'user' })).status, 200);
    });
    const paths = [
      'quotes?perPage=100&expand=tome.publisher',
      'quotes?perPage=100&cursor=&expand=tome.publisher',
      'quotes?perPage=77&sort=nr&filter=nr>-1&expand=tome.publisher',
      `shelves/${shelf}?expand=tomes.publisher`,
    ];
    const { tomes, publishers } = await measure(33 * paths.length, async () => {
      for (const path of paths) {
        const { status, json } = await records.send('GET', `/api/${path}`, { as: 'user' });
        assert.deepEqual([status, json.code], [422, 'answer_too_large'], path);
      }
    });
    // To fill the limit, each would read 33 tomes.
    assert.ok(tomes.blocks <= 8 * paths.length * one.tomes.blocks, `${tomes.blocks} of ${one.tomes.blocks}`);
    assert.ok(publishers.scans <= 8 * paths.length, `${publishers.scans} publishers`);
  });

  it('counts only what the caller sees', async () => {
    const send = (path: string, as: Sent['as'] = 'user') => records.send('GET', `/api/${path}`, { as });
    const path = 'quotes?perPage=100&expand=hidden';
    assert.equal((await send(path)).status, 200);
    assert.equal((await send(path, 'admin')).status, 422);
    assert.equal((await send('quotes?perPage=100&expand=tome&fields=id,expand.tome.id')).status, 200);
    assert.equal((await send('quotes?perPage=20&expand=tome,hidden')).status, 200);
  });

  it("is never more than the answer's bytes", async () => {
    for (const fields of ['*', 't', 'n', 'j', 'v', 's', 'r']) {
      const { rows } = await records.send('GET', '/api/samples?perPage=100', { as: 'admin' });
      assert.equal(rows.length, values.length);
      for (const row of rows) {
        const { text } = await records.send('GET', `/api/samples/${row.id}?fields=${fields}`, { as: 'admin' });
        const bytes = Buffer.byteLength(text) - '{"data":}'.length;
        const estimated = await estimate(samples, row.id, fields);
        assert.ok(estimated > 0 && estimated <= bytes, JSON.stringify([fields, estimated, bytes, row]));
      }
    }
  });

  /** One record's estimated bytes. */
  async function estimate(collection: Collection, id: string, fields: string): Promise<number> {
    const parameters = createNamedParameters<{ readonly maxBytes: number; readonly id: string }>();
    const principal = { type: 'admin', id: 'a', email: 'a@x.org' } as const;
    const context = { principal, schema: { findCollection: () => samples } };
    const projection = readProjection(collection, { fields }, context);
    const page = `(select * from records.samples where id = ${parameters.named('id', 'text')}) p`;
    const tables = composeEstimate(projection, page, { parameters, ...context });
    const [row] = await records.database.query<{ bytes: number }>({
      text: `with ${tables} select bytes::float8 from estimate`,
      values: parameters.valuesFrom({ maxBytes: 0, id }),
    });
    return row?.bytes ?? 0;
  }
});
