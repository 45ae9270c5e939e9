import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type RecordsFixture, skipWithoutDatabase } from './records-fixture.ts';
import { absentId, startPosts } from './write-fixture.ts';

describe('changing a record', { skip: skipWithoutDatabase }, () => {
  let records: RecordsFixture;

  before(async () => {
    records = await startPosts();
  });
  after(() => records?.stop());
  beforeEach(() => records?.takeEvents());

  const create = async (body: object) => (await records.send('POST', '/api/posts', { body })).record;

  it('changes the named fields, and the event lists them', async () => {
    const before = await create({ title: 'Before', size: 1, meta: { a: 1 } });
    await records.takeEvents();
    const { status, version, record } = await records.send('PATCH', `/api/v1/posts/${before.id}`, {
      as: 'admin',
      body: { title: 'After', size: 1, meta: { b: 2 } },
    });
    assert.equal(status, 200);
    assert.deepEqual(record, { ...before, title: 'After', meta: { b: 2 }, updated: record.updated });
    assert.notEqual(version, String(before.updated));
    const [event, ...others] = await records.takeEvents();
    assert.deepEqual(others, []);
    assert.deepEqual([event?.event, event?.version], ['posts.update', version]);
    assert.deepEqual(event?.actor, { type: 'admin', id: 'a1' });
    assert.deepEqual(event?.data, { record, previous: before, changed: ['title', 'meta'] });
  });

  it('clears a field with null and keeps other fields', async () => {
    const before = await create({ title: 'Keep', size: 5, live: true });
    const { record } = await records.send('PATCH', `/api/posts/${before.id}`, { body: { size: null } });
    assert.deepEqual([record.size, record.live, record.title], [null, true, 'Keep']);
  });

  it('is a write even if nothing changes', async () => {
    const before = await create({ title: 'Same' });
    await records.takeEvents();
    const { version, record } = await records.send('PATCH', `/api/posts/${before.id}`, { body: before });
    assert.deepEqual(record, { ...before, updated: record.updated });
    assert.notEqual(version, String(before.updated));
    const [event] = await records.takeEvents();
    assert.deepEqual(event?.data.changed, []);
  });

  it('gives each write a new version, and `updated` is never ahead of the clock', async () => {
    const { id } = await create({ title: 'Clock' });
    const patch = (size: number) => records.send('PATCH', `/api/posts/${id}`, { body: { size } });
    const moveTo = (updatedAt: string, revision: number) =>
      records.database.query({
        text: `update records.posts set updated_at = ${updatedAt}, _revision = $2 where id = $1`,
        values: [id, revision],
      });
    await moveTo('5', 7);
    const first = await patch(0);
    const now = Math.floor(Date.now() / 1000);
    assert.ok(first.record.updated >= now - 2 && first.record.updated <= now);
    assert.equal(first.version, String(first.record.updated), 'the first write in a second has no number');
    const answers = await Promise.all(Array.from({ length: 10 }, (_, size) => patch(size)));
    assert.equal(new Set([first, ...answers].map(({ version }) => version)).size, 11);
    assert.ok(answers.every(({ record }) => record.updated <= Math.floor(Date.now() / 1000)));
    // The clock is set back an hour, or stands still.
    await moveTo('extract(epoch from now())::bigint + 3600', 0);
    const ahead = await patch(1);
    const { updated } = ahead.record;
    assert.ok(updated > Date.now() / 1000 + 3500);
    const further = [ahead, await patch(2), await patch(3)].map(({ version }) => version);
    assert.deepEqual(further, [`${updated}.1`, `${updated}.2`, `${updated}.3`]);
  });

  const refused: [string, object, Record<string, string>][] = [
    ['an unknown key', { colour: 1 }, { colour: 'is not a field of posts' }],
    ['a cleared required field', { title: null }, { title: 'is required' }],
    ['a value of the wrong type', { live: 'yes' }, { live: 'must be true or false' }],
    ['a relation to a missing record', { author: absentId }, { author: 'refers to no record' }],
    ['a taken unique value', { slug: 'owned' }, { slug: 'is already taken' }],
  ];
  for (const [title, body, details] of refused) {
    it(`refuses ${title}, and changes nothing`, async () => {
      await records.send('POST', '/api/posts', { body: { title: 'Owner', slug: 'owned' } });
      const before = await create({ title: 'Victim' });
      await records.takeEvents();
      const { status, json } = await records.send('PATCH', `/api/posts/${before.id}`, { body });
      assert.deepEqual([status, json.details], [422, details]);
      assert.deepEqual((await records.send('GET', `/api/posts/${before.id}`)).record, before);
      assert.deepEqual(await records.takeEvents(), []);
    });
  }

  it('accepts the unique value that the record already has', async () => {
    const { id } = await create({ title: 'Own', slug: 'own' });
    assert.equal((await records.send('PATCH', `/api/posts/${id}`, { body: { slug: 'own' } })).status, 200);
  });

  it('answers a delete with null; its event has the last state of the record', async () => {
    const made = await create({ title: 'Gone' });
    await records.takeEvents();
    const { status, json } = await records.send('DELETE', `/api/v1/records/posts/${made.id}`);
    assert.deepEqual([status, json], [200, { data: null }]);
    const [event, ...others] = await records.takeEvents();
    assert.deepEqual(others, []);
    assert.equal(event?.event, 'posts.delete');
    assert.deepEqual(event?.data, { record: made });
    assert.deepEqual(event?.actor, { type: 'guest', id: null });
    assert.equal((await records.send('GET', `/api/posts/${made.id}`)).status, 404);
    assert.equal((await records.send('DELETE', `/api/posts/${made.id}`)).status, 404);
  });
});
