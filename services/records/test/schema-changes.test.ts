import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Collection } from '@recordbus/schema';
import { type RecordsFixture, skipWithoutDatabase, startRecords } from './records-fixture.ts';
import { testCollection } from './test-collection.ts';

/** The service gets no notice of these changes, and polls only every 5 s. */
describe('a schema that changes without a notice to the service', { skip: skipWithoutDatabase }, () => {
  let records: RecordsFixture;

  before(async () => {
    const fields = [{ name: 'title' }, { name: 'size', type: 'number' }];
    records = await startRecords(
      ['renamed', 'dropped', 'retyped', 'narrowed', 'referred', 'guarded'].map((name) => testCollection(name, fields)),
    );
  });
  after(() => records?.stop());

  const run = (text: string) => records.database.query({ text, values: [] });
  const bump = () => run("update system.versions set version = version + 1 where name = 'schema'");
  const define = async (collection: Collection) => {
    await records.database.query({
      text: 'update system.collections set fields = $2, view_rule = $3 where id = $1',
      values: [collection.id, JSON.stringify(collection.fields), collection.rules.view],
    });
    await bump();
  };
  const create = async (collection: string, body: object = { title: 'x', size: 1 }) =>
    (await records.send('POST', `/api/${collection}`, { body })).record;

  it('serves a new collection', async () => {
    assert.equal((await records.send('GET', '/api/fresh')).status, 404);
    await records.create(testCollection('fresh', [{ name: 'title' }]));
    assert.equal((await records.send('POST', '/api/fresh', { body: { title: 'x' } })).status, 201);
  });

  it('leaves out a dropped field', async () => {
    const { id } = await create('narrowed');
    await run('alter table records.narrowed drop column size');
    await define(testCollection('narrowed', [{ name: 'title' }]));
    const { status, record } = await records.send('GET', `/api/narrowed/${id}`);
    assert.deepEqual([status, Object.keys(record)], [200, ['id', 'title', 'created', 'updated']]);
  });

  it('leaves out a dropped field named like a database function', async () => {
    await records.create(testCollection('functions', [{ name: 'rank' }, { name: 'count' }, { name: 'title' }]));
    const { id } = await create('functions', { title: 'x' });
    for (const name of ['rank', 'count']) {
      await run(`alter table records.functions drop column ${name}`);
      await define(testCollection('functions', [...(name === 'rank' ? [{ name: 'count' }] : []), { name: 'title' }]));
      const { status, record } = await records.send('GET', `/api/functions/${id}`);
      assert.deepEqual([status, Object.hasOwn(record, name)], [200, false]);
    }
  });

  it('refuses a write with a dropped field by name', async () => {
    await run('alter table records.fresh add column size double precision');
    await define(testCollection('fresh', [{ name: 'title' }, { name: 'size', type: 'number' }]));
    await records.send('GET', '/api/absent');
    await run('alter table records.fresh drop column size');
    await define(testCollection('fresh', [{ name: 'title' }]));
    const { status, json } = await records.send('POST', '/api/fresh', { body: { title: 'x', size: 1 } });
    assert.deepEqual([status, json.details], [422, { size: 'is not a field of fresh' }]);
  });

  it('reads and writes a field that was created again with another type', async () => {
    const { id } = await create('retyped');
    await run('alter table records.retyped drop column title');
    await run('alter table records.retyped add column title jsonb');
    await define(
      testCollection('retyped', [
        { name: 'size', type: 'number' },
        { name: 'title', type: 'json' },
      ]),
    );
    const { status, record } = await records.send('PATCH', `/api/retyped/${id}`, { body: { title: 'text' } });
    assert.deepEqual([status, record.title, record.size], [200, 'text', 1]);
  });

  it('serves a renamed collection only under its new name', async () => {
    const { id } = await create('renamed');
    await run('alter table records.renamed rename to "afterwards"');
    await run("update system.collections set name = 'afterwards' where name = 'renamed'");
    await bump();
    const { status, json } = await records.send('GET', `/api/renamed/${id}`);
    assert.deepEqual([status, json.error], [404, 'collection not found']);
    assert.equal((await records.send('GET', `/api/afterwards/${id}`)).status, 200);
  });

  it('answers 404 for a dropped collection', async () => {
    const { id } = await create('dropped');
    await run('drop table records.dropped');
    await run("delete from system.collections where name = 'dropped'");
    await bump();
    for (const [method, path] of [
      ['GET', '/api/dropped'],
      ['DELETE', `/api/dropped/${id}`],
      ['POST', '/api/dropped'],
    ] as const) {
      const { status, json } = await records.send(method, path, { body: method === 'POST' ? {} : undefined });
      assert.deepEqual([status, json.error], [404, 'collection not found']);
    }
  });

  it('follows a new relation', async () => {
    const { id } = await create('referred');
    await records.create(
      testCollection('followers', [
        { name: 'to', type: 'relation', collection: 'referred', options: { cascade: 'cascade' } },
      ]),
    );
    await run(`insert into records.followers (id, "to", created_at, updated_at) values ('f', '${id}', 0, 0)`);
    assert.equal((await records.send('DELETE', `/api/referred/${id}`)).status, 200);
    assert.equal((await records.send('GET', '/api/followers/f')).status, 404);
  });

  it('checks the current rule when it reloads the schema', async () => {
    const { id } = await create('guarded');
    await run('alter table records.guarded drop column size');
    const rules = { list: null, view: '', create: null, update: null, delete: null };
    await define(testCollection('guarded', [{ name: 'title' }], { rules }));
    assert.equal((await records.send('GET', `/api/guarded/${id}`)).status, 403);
  });
});
