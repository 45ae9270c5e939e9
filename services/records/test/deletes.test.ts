import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type RecordsFixture, skipWithoutDatabase, startRecords } from './records-fixture.ts';
import { type TestField, testCollection } from './test-collection.ts';

const relation = (name: string, collection: string, cascade?: string, required = false): TestField => ({
  name,
  type: 'relation',
  collection,
  required,
  ...(cascade && { options: { cascade } }),
});

describe('deleting records that others refer to', { skip: skipWithoutDatabase }, () => {
  let records: RecordsFixture;

  before(async () => {
    records = await startRecords([
      testCollection('orgs', [{ name: 'name' }]),
      testCollection('people', [relation('org', 'orgs', 'cascade'), relation('boss', 'people', 'cascade')]),
      testCollection('notes', [
        { name: 'text' },
        relation('writer', 'people'),
        relation('reader', 'people', undefined, true),
      ]),
      testCollection('badges', [relation('holder', 'people', 'restrict'), relation('org', 'orgs', 'cascade')]),
      testCollection('vaults', [relation('org', 'orgs', 'restrict')], {
        rules: { list: null, view: '', create: null, update: null, delete: null },
      }),
      testCollection('nodes', [relation('next', 'nodes', 'restrict')]),
      // Two collections that refer to each other. The second relation is added once both tables exist.
      testCollection('hens', [{ name: 'egg' }]),
      testCollection('eggs', [relation('hen', 'hens', 'cascade')]),
    ]);
    await records.database.query({
      text: `alter table records.hens add constraint "fk:hens:egg" foreign key (egg) references records.eggs (id)`,
      values: [],
    });
    await records.database.query({
      text: `update system.collections set fields = $1 where name = 'hens'`,
      values: [JSON.stringify(testCollection('hens', [relation('egg', 'eggs', 'cascade')]).fields)],
    });
    await records.database.query({ text: `update system.versions set version = version + 1`, values: [] });
    // An unknown name makes the service reload the collections.
    await records.send('GET', '/api/absent');
  });
  after(() => records?.stop());
  beforeEach(() => records?.takeEvents());

  const create = async (collection: string, body: object) => {
    const { status, text, record } = await records.send('POST', `/api/${collection}`, { body });
    assert.equal(status, 201, text);
    return record;
  };
  const remove = (collection: string, id: string, headers = {}) =>
    records.send('DELETE', `/api/${collection}/${id}`, { headers });
  const get = async (collection: string, id: string) =>
    (await records.send('GET', `/api/${collection}/${id}`, { as: 'admin' })).record;
  const summarise = async () =>
    (await records.takeEvents()).map(({ event, data }) => `${event} ${data.record.id}`).sort();

  it('clears setNull relations, even required ones, once for each record', async () => {
    const person = await create('people', {});
    const other = await create('people', {});
    const both = await create('notes', { text: 'both', writer: person.id, reader: person.id });
    const one = await create('notes', { text: 'one', writer: person.id, reader: other.id });
    await records.takeEvents();
    assert.equal((await remove('people', person.id)).status, 200);
    const cleared = await get('notes', both.id);
    assert.deepEqual(cleared, { ...both, writer: null, reader: null, updated: cleared.updated });
    const { updated } = await get('notes', one.id);
    assert.deepEqual(await get('notes', one.id), { ...one, writer: null, updated });
    const events = await records.takeEvents();
    assert.deepEqual(events.map(({ event }) => event).sort(), ['notes.update', 'notes.update', 'people.delete']);
    const update = events.find(({ data }) => data.record.id === both.id);
    assert.deepEqual(update?.data, { record: cleared, previous: both, changed: ['writer', 'reader'] });
    assert.equal(new Set(events.map(({ id }) => id)).size, 3);
  });

  it('follows cascades over several levels and collections', async () => {
    const org = await create('orgs', { name: 'root' });
    const boss = await create('people', { org: org.id });
    const worker = await create('people', { boss: boss.id });
    const intern = await create('people', { boss: worker.id, org: org.id });
    const note = await create('notes', { writer: intern.id, reader: (await create('people', {})).id });
    await records.takeEvents();
    assert.equal((await remove('orgs', org.id)).status, 200);
    assert.deepEqual(
      await summarise(),
      [
        `notes.update ${note.id}`,
        `orgs.delete ${org.id}`,
        ...[boss, worker, intern].map(({ id }) => `people.delete ${id}`),
      ].sort(),
    );
  });

  it('ends in circles with one record, with one collection, and with two', async () => {
    const self = await create('people', {});
    await records.send('PATCH', `/api/people/${self.id}`, { body: { boss: self.id } });
    assert.equal((await remove('people', self.id)).status, 200);

    const first = await create('people', {});
    const second = await create('people', { boss: first.id });
    await records.send('PATCH', `/api/people/${first.id}`, { body: { boss: second.id } });
    await records.takeEvents();
    assert.equal((await remove('people', second.id)).status, 200);
    assert.deepEqual(await summarise(), [first, second].map(({ id }) => `people.delete ${id}`).sort());

    const hen = await create('hens', {});
    const egg = await create('eggs', { hen: hen.id });
    await records.send('PATCH', `/api/hens/${hen.id}`, { body: { egg: egg.id } });
    await records.takeEvents();
    assert.equal((await remove('hens', hen.id)).status, 200);
    assert.deepEqual(await summarise(), [`eggs.delete ${egg.id}`, `hens.delete ${hen.id}`]);
  });

  it('is refused while a restrict relation refers to the cascade set, and changes nothing', async () => {
    const org = await create('orgs', {});
    const person = await create('people', { org: org.id });
    const badge = await create('badges', { holder: person.id });
    const note = await create('notes', { reader: person.id });
    await records.takeEvents();
    for (const [collection, id] of [
      ['people', person.id],
      ['orgs', org.id],
    ] as const) {
      const { status, json } = await remove(collection, id);
      assert.deepEqual([status, json.code], [409, 'delete_restricted']);
      assert.deepEqual(json.details, { blockers: [{ collection: 'badges', id: badge.id, field: 'holder' }], total: 1 });
    }
    assert.deepEqual(await records.takeEvents(), []);
    assert.equal((await get('notes', note.id)).reader, person.id);
    await remove('badges', badge.id);
    assert.equal((await remove('orgs', org.id)).status, 200);
  });

  it('is not blocked by records in the cascade set', async () => {
    const org = await create('orgs', {});
    const person = await create('people', { org: org.id });
    await create('badges', { holder: person.id, org: org.id });
    assert.equal((await remove('orgs', org.id)).status, 200);

    const node = await create('nodes', {});
    await records.send('PATCH', `/api/nodes/${node.id}`, { body: { next: node.id } });
    assert.equal((await remove('nodes', node.id)).status, 200);
  });

  it('counts blockers that the caller may not view, and lists at most 100', async () => {
    const org = await create('orgs', {});
    const vault = await create('vaults', { org: org.id });
    const asGuest = await remove('orgs', org.id);
    assert.deepEqual(asGuest.json.details, { blockers: [], total: 1 });
    const asAdmin = await records.send('DELETE', `/api/orgs/${org.id}`, { as: 'admin' });
    assert.deepEqual(asAdmin.json.details?.blockers, [{ collection: 'vaults', id: vault.id, field: 'org' }]);

    const person = await create('people', {});
    await records.database.query({
      text: `insert into records.badges (id, holder, created_at, updated_at)
        select 'badge' || lpad(n::text, 3, '0'), $1, 0, 0 from generate_series(1, 120) n`,
      values: [person.id],
    });
    const { json } = await remove('people', person.id);
    const { blockers, total } = json.details ?? {};
    assert.deepEqual([Array.isArray(blockers) && blockers.length, total], [100, 120]);
  });

  it('checks If-Match before blockers', async () => {
    const person = await create('people', {});
    await create('badges', { holder: person.id });
    const mismatch = await remove('people', person.id, { 'if-match': '"1"' });
    assert.deepEqual([mismatch.status, mismatch.headers.get('etag')], [412, `W/"${person.updated}"`]);
    assert.equal((await remove('people', person.id, { 'if-match': `"${person.updated}"` })).status, 409);
  });

  it('deletes 10,000 children', async () => {
    const org = await create('orgs', {});
    await records.database.query({
      text: `insert into records.people (id, org, created_at, updated_at)
        select 'child' || n, $1, 0, 0 from generate_series(1, 10000) n`,
      values: [org.id],
    });
    await records.takeEvents();
    assert.equal((await remove('orgs', org.id)).status, 200);
    assert.equal((await records.takeEvents()).length, 10_001);
  });

  it('never leaves a dangling reference after a parallel write', async () => {
    for (let round = 0; round < 20; round += 1) {
      const person = await create('people', {});
      const [removed, made] = await Promise.all([
        remove('people', person.id),
        records.send('POST', '/api/notes', { body: { writer: person.id, reader: person.id } }),
      ]);
      assert.equal(removed.status, 200);
      if (made.status === 201) assert.equal((await get('notes', made.record.id)).writer, null);
      else assert.deepEqual([made.status, made.json.details], [422, { writer: 'refers to no record' }]);
    }
  });
});
