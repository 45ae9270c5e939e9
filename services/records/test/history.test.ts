import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { planHistoryTable } from '@recordbus/journal';
import { allowAll, type HistoryFixture, startHistory } from './history-fixture.ts';
import { type RecordsFixture, skipWithoutDatabase } from './records-fixture.ts';
import { testCollection } from './test-collection.ts';

describe('history', { skip: skipWithoutDatabase }, () => {
  let fixture: HistoryFixture;
  let records: RecordsFixture;

  before(async () => {
    fixture = await startHistory();
    records = fixture.records;
  });
  after(() => fixture?.records.stop());
  beforeEach(() => fixture?.records.takeEvents());

  it('has a row for each write, newest first, with the actor', async () => {
    const first = await fixture.create('posts', {
      title: 'one',
      stars: 1.5,
      tags: ['a'],
      meta: { deep: [null, 1e21] },
    });
    const second = await fixture.patch(`posts/${first.id}`, { title: 'two' }, { as: 'user' });
    await records.send('DELETE', `/api/posts/${first.id}`, { as: 'admin' });
    const { data, ...counts } = await fixture.historyOf(`posts/${first.id}`);
    assert.deepEqual(counts, { page: 1, perPage: 50, totalItems: 3, totalPages: 1 });
    const gone = data[0]?.at ?? 0;
    assert.ok(second.updated <= gone && gone <= Math.floor(Date.now() / 1000));
    assert.deepEqual(
      data.map(({ id, version, ...row }) => row),
      [
        { op: 'delete', snapshot: { ...second, updated: gone }, actor_id: 'a1', actor_type: 'admin', at: gone },
        { op: 'update', snapshot: second, actor_id: 'u1', actor_type: 'user', at: second.updated },
        { op: 'create', snapshot: first, actor_id: null, actor_type: 'guest', at: first.updated },
      ],
    );
    assert.equal(new Set(data.map(({ id }) => id)).size, 3);
    assert.equal(new Set(data.map(({ version }) => version)).size, 3);
    assert.equal(data.at(-1)?.version, String(first.updated));
  });

  it('is paged', async () => {
    const { id } = await fixture.create('bare', {});
    for (let n = 0; n < 4; n += 1) await fixture.patch(`bare/${id}`, {});
    const page = await fixture.historyOf(`bare/${id}`, '?page=2&perPage=2');
    assert.deepEqual(
      { ...page, data: page.data.length },
      { data: 2, page: 2, perPage: 2, totalItems: 5, totalPages: 3 },
    );
    assert.deepEqual((await fixture.historyOf(`bare/${id}`, '?page=9')).data, []);
    assert.deepEqual((await fixture.historyOf(`bare/${id}`, '?perPage=0')).perPage, 50);
    assert.deepEqual((await fixture.historyOf(`bare/${id}`, '?page=99999999999999999999&perPage=5000')).perPage, 1000);
    assert.equal((await records.send('GET', `/api/bare/${id}/history?page=x`)).status, 400);
  });

  it("checks the view rule on the record, or on a deleted one's last snapshot", async () => {
    const open = await fixture.create('authors', { name: 'Open' });
    const mine = await fixture.create('secrets', { owner: 'u1' });
    const linked = await fixture.create('secrets', { owner: 'x', author: open.id });
    const status = async (id: string, as: 'guest' | 'stranger' | 'user' | 'admin') =>
      (await records.send('GET', `/api/secrets/${id}/history`, { as })).status;
    for (const state of ['live', 'deleted']) {
      if (state === 'deleted') for (const { id } of [mine, linked]) await fixture.remove(`secrets/${id}`);
      assert.deepEqual(
        await Promise.all((['guest', 'stranger', 'user', 'admin'] as const).map((as) => status(mine.id, as))),
        [403, 401, 200, 200],
        state,
      );
      assert.equal(await status(linked.id, 'guest'), 200, `a relation is followed when the record is ${state}`);
    }
    assert.equal(await status('nothing', 'guest'), 404);
    // The path leads through the current records.
    await fixture.patch(`authors/${open.id}`, { name: 'Closed' });
    assert.equal(await status(linked.id, 'guest'), 403);
  });

  it('decides on a deleted record as before its delete, for every kind of rule', async () => {
    const open = await fixture.create('authors', { name: 'Open' });
    const values = {
      title: 'Äpfel',
      stars: 2.5,
      live: true,
      day: 1_700_000_000,
      tags: ['a'],
      meta: { deep: { n: 1 } },
    };
    const cases: [rule: string, seen: object, unseen?: object][] = [
      ['title:lower = "äpfel"', {}, { title: 'x' }],
      ['title ~ "pfe" && stars > 2', {}, { stars: null }],
      ['live = true', {}, { live: null }],
      ['day < @now && day != null', {}, { day: null }],
      ['tags ~ "a"', {}, { tags: ['b'] }],
      ['meta.deep.n = 1', {}, { meta: { deep: {} } }],
      ['id != "" && created > 0 && updated >= created', {}],
      ['author.name = "Open"', { author: open.id }, {}],
      ['author.id = null', {}, { author: open.id }],
      ['@request.auth.id = title', { title: 'u1' }, {}],
    ];
    for (const [index, [rule, seen, unseen]] of cases.entries()) {
      const collection = testCollection(
        `ruled${index}`,
        [
          { name: 'title' },
          { name: 'stars', type: 'number' },
          { name: 'live', type: 'bool' },
          { name: 'day', type: 'date' },
          { name: 'tags', type: 'select', options: { values: ['a', 'b'], multiple: true } },
          { name: 'meta', type: 'json' },
          { name: 'author', type: 'relation', collection: 'authors' },
        ],
        { historyEnabled: true, rules: { ...allowAll, view: rule } },
      );
      await records.create(collection);
      const paths: string[] = [];
      for (const body of unseen ? [seen, unseen] : [seen])
        paths.push(`ruled${index}/${(await fixture.create(`ruled${index}`, { ...values, ...body })).id}`);
      const statuses = async () => {
        const answers: number[] = [];
        for (const path of paths)
          answers.push((await records.send('GET', `/api/${path}/history`, { as: 'user' })).status);
        return answers;
      };
      const expected = unseen ? [200, 403] : [200];
      assert.deepEqual(await statuses(), expected, rule);
      for (const path of paths) await fixture.remove(path);
      assert.deepEqual(await statuses(), expected, `${rule}, deleted`);
    }
  });

  it('has only the writes since it was enabled', async () => {
    const older = testCollection('older', [{ name: 'title' }], { historyEnabled: true });
    await records.create({ ...older, historyEnabled: false });
    const first = await fixture.create('older', { title: 'v1' });
    await fixture.redefine(
      older,
      older.fields,
      planHistoryTable(older),
      "update system.collections set history_enabled = true where id = 'older'",
    );
    assert.deepEqual((await fixture.historyOf(`older/${first.id}`)).data, []);
    assert.equal((await fixture.restore(`older/${first.id}`, 9e9)).status, 404);
    const second = await fixture.patch(`older/${first.id}`, { title: 'v2' });
    assert.deepEqual(
      (await fixture.historyOf(`older/${first.id}`)).data.map(({ snapshot }) => snapshot),
      [second],
    );
    assert.equal((await fixture.restoreVersion(`older/${first.id}`, first.updated)).status, 404);
  });

  it('has one row for each of 20 parallel writes', async () => {
    const { id } = await fixture.create('posts', { title: 'busy' });
    await Promise.all(Array.from({ length: 20 }, (_, stars) => fixture.patch(`posts/${id}`, { stars })));
    const { data } = await fixture.historyOf(`posts/${id}`);
    assert.equal(data.length, 21);
    assert.equal(new Set(data.map(({ version }) => version)).size, 21);
    const [live] = data;
    const { record } = await records.send('GET', `/api/posts/${id}`);
    assert.deepEqual(live?.snapshot, record);
  });
});
