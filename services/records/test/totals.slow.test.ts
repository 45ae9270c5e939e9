import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type RecordsFixture, skipWithoutDatabase, startRecords } from './records-fixture.ts';
import { testCollection } from './test-collection.ts';

const withoutOdd = 'parent.name != "odd"';

describe('incremental totals', { skip: skipWithoutDatabase }, () => {
  let records: RecordsFixture;

  before(async () => {
    records = await startRecords([
      testCollection('parents', [{ name: 'name' }]),
      testCollection('children', [
        { name: 'slug', options: { unique: true } },
        { name: 'parent', type: 'relation', collection: 'parents', options: { cascade: 'cascade' } },
      ]),
    ]);
  });
  after(() => records?.stop());

  const create = async (collection: string, body: object) =>
    (await records.send('POST', `/api/${collection}`, { body })).record;
  const list = async (filter?: string) => {
    const filtered = filter === undefined ? '' : `&filter=${encodeURIComponent(filter)}`;
    const { rows, json } = await records.send('GET', `/api/children?perPage=1000${filtered}`);
    return { rows, totalItems: json.totalItems ?? -1 };
  };

  it('follow creates, updates, deletes, cascades and refused writes', async () => {
    assert.equal((await list()).totalItems, 0);
    const parent = await create('parents', {});
    const first = await create('children', { slug: 'a', parent: parent.id });
    await create('children', { slug: 'b', parent: parent.id });
    await create('children', { slug: 'c' });
    assert.equal((await list()).totalItems, 3);
    await records.send('PATCH', `/api/children/${first.id}`, { body: { slug: 'd' } });
    assert.equal((await records.send('POST', '/api/children', { body: { slug: 'c' } })).status, 422);
    assert.equal((await list()).totalItems, 3);
    await records.send('DELETE', `/api/parents/${parent.id}`);
    assert.equal((await list()).totalItems, 1);
    assert.equal((await records.send('GET', '/api/children?page=2&perPage=1')).json.totalItems, 1);
  });

  it('with one negated test leave out the records that do not satisfy it', async () => {
    const parent = await create('parents', { name: 'odd' });
    const child = await create('children', { slug: 'x', parent: parent.id });
    for (const filter of ['slug != "x"', 'not (slug = "x")', withoutOdd, 'slug !~ "X"', 'not (parent.name ~ "ODD")'])
      for (const _ of ['counted', 'incremental']) {
        const { rows, totalItems } = await list(filter);
        assert.deepEqual([totalItems, rows.some(({ id }) => id === child.id)], [rows.length, false], filter);
      }
    await records.send('DELETE', `/api/parents/${parent.id}`);
    const { rows, totalItems } = await list(withoutOdd);
    assert.equal(totalItems, rows.length);
  });

  it('never fall below 0, even after direct writes to the table', async () => {
    const { totalItems } = await list();
    await records.database.query({
      text: `insert into records.children (id, slug, created_at, updated_at)
        select 'direct' || i, 'direct' || i, 0, 0 from generate_series(0, $1::integer) i`,
      values: [totalItems],
    });
    assert.equal((await list('slug !~ "direct"')).totalItems, 0);
    await records.database.query({ text: "delete from records.children where slug like 'direct%'", values: [] });
  });

  it('agree with their page at every moment during many parallel writes', async () => {
    let writing = true;
    const lists = (async () => {
      let changes = 0;
      let last = -1;
      while (writing) {
        const [whole, ...others] = await Promise.all([list(), list(), list(withoutOdd)]);
        for (const { rows, totalItems } of [whole, ...others]) assert.equal(totalItems, rows.length);
        if (whole.totalItems !== last) changes += 1;
        last = whole.totalItems;
      }
      return changes;
    })();
    const writer = async () => {
      for (let round = 0; round < 25; round += 1) {
        const parent = await create('parents', { name: round % 2 ? 'odd' : 'even' });
        const child = await create('children', { parent: parent.id });
        await create('children', { parent: parent.id });
        await records.send('DELETE', round % 2 ? `/api/parents/${parent.id}` : `/api/children/${child.id}`);
      }
    };
    await Promise.all(Array.from({ length: 6 }, writer));
    writing = false;
    assert.ok((await lists) > 10);
  });

  it('count a transaction when it commits, even if it was open for long', async () => {
    const { totalItems } = await list();
    await records.database.transaction(async (query) => {
      const insert = (id: string) =>
        query({
          text: `with new as (insert into records.children (id, created_at, updated_at) values ($1, 0, 0) returning id)
            insert into system.outbox (event_id, event, body, collection_id, records_added)
            select gen_random_uuid(), 'children.create', '{}', 'children', 1 from new`,
          values: [id],
        });
      await insert('late1');
      assert.equal((await list()).totalItems, totalItems);
      const other = await create('children', {});
      assert.equal((await list()).totalItems, totalItems + 1);
      await insert('late2');
      await records.send('DELETE', `/api/children/${other.id}`);
      assert.equal((await list()).totalItems, totalItems);
    });
    assert.equal((await list()).totalItems, totalItems + 2);
  });
});
