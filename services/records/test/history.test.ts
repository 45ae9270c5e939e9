import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { planHistoryTable } from '@recordbus/journal';
import type { Collection } from '@recordbus/schema';
import { fileKey } from '@recordbus/storage';
import { type RecordsFixture, type Sent, skipWithoutDatabase, startRecords } from './records-fixture.ts';
import { type TestField, testCollection } from './test-collection.ts';

interface HistoryRow {
  readonly id: string;
  readonly op: string;
  readonly snapshot: Readonly<Record<string, unknown>>;
  readonly actor_id: string | null;
  readonly actor_type: string;
  readonly at: number;
  readonly version: string;
}

const form: Sent = { headers: { 'content-type': 'multipart/form-data; boundary=part' } };

/** A form (RFC 7578) with a text file for each field, and the rest of the record. */
const formOf = (rest: object, ...files: readonly (readonly [field: string, name: string])[]): string =>
  [
    `name="_json"\r\n\r\n${JSON.stringify(rest)}`,
    ...files.map(([field, name]) => `name="${field}"; filename="${name}.txt"\r\n\r\nx`),
  ]
    .map((part) => `--part\r\nContent-Disposition: form-data; ${part}\r\n`)
    .join('')
    .concat('--part--\r\n');

const rules = { list: null, view: null, create: null, update: null, delete: null };

describe('history', { skip: skipWithoutDatabase }, () => {
  let records: RecordsFixture;
  const posts = testCollection(
    'posts',
    [
      { name: 'title', options: { unique: true } },
      { name: 'stars', type: 'number' },
      { name: 'tags', type: 'select', options: { values: ['a', 'b'], multiple: true } },
      { name: 'meta', type: 'json' },
      { name: 'author', type: 'relation', collection: 'authors' },
    ],
    { historyEnabled: true },
  );

  before(async () => {
    records = await startRecords([
      testCollection('plain', [{ name: 'title' }]),
      testCollection('authors', [{ name: 'name' }], { historyEnabled: true }),
      posts,
      testCollection(
        'comments',
        [{ name: 'post', type: 'relation', collection: 'posts', options: { cascade: 'cascade' } }],
        { historyEnabled: true },
      ),
      testCollection('bare', [], { historyEnabled: true }),
      testCollection('secrets', [{ name: 'owner' }, { name: 'author', type: 'relation', collection: 'authors' }], {
        historyEnabled: true,
        rules: { ...rules, view: 'owner = @request.auth.id || author.name = "Open"' },
      }),
    ]);
  });
  after(() => records?.stop());
  beforeEach(() => records?.takeEvents());

  const create = async (collection: string, body: object | string, sent: Sent = {}) => {
    const { status, text, record } = await records.send('POST', `/api/${collection}`, { ...sent, body });
    assert.equal(status, 201, text);
    return record;
  };
  const patch = async (path: string, body: object | string, sent: Sent = {}) => {
    const { status, text, record } = await records.send('PATCH', `/api/${path}`, { ...sent, body });
    assert.equal(status, 200, text);
    return record;
  };
  const remove = async (path: string) => assert.equal((await records.send('DELETE', `/api/${path}`)).status, 200);
  const historyOf = async (path: string, query = '', sent: Sent = { as: 'admin' }) => {
    const { status, text, json } = await records.send('GET', `/api/${path}/history${query}`, sent);
    assert.equal(status, 200, text);
    return json.data as { data: HistoryRow[]; page: number; perPage: number; totalItems: number; totalPages: number };
  };
  const restore = (path: string, at: number | string, sent: Sent = { as: 'admin' }) =>
    records.send('POST', `/api/${path}/restore?at=${at}`, sent);
  const restoreVersion = (path: string, version: number | string, sent: Sent = { as: 'admin' }) =>
    records.send('POST', `/api/${path}/restore?version=${version}`, sent);
  /** Changes the fields of a collection with the given DDL, as the admin service does. */
  const redefine = async (collection: Collection, fields: Collection['fields'], ...ddl: string[]) => {
    for (const text of ddl) await records.database.query({ text, values: [] });
    await records.database.query({
      text: 'update system.collections set fields = $1 where id = $2',
      values: [JSON.stringify(fields), collection.id],
    });
    await records.database.query({ text: 'update system.versions set version = version + 1', values: [] });
    await records.send('GET', '/api/absent');
  };

  it('has a row for each write, newest first, with the actor', async () => {
    const first = await create('posts', { title: 'one', stars: 1.5, tags: ['a'], meta: { deep: [null, 1e21] } });
    const second = await patch(`posts/${first.id}`, { title: 'two' }, { as: 'user' });
    await records.send('DELETE', `/api/posts/${first.id}`, { as: 'admin' });
    const { data, ...counts } = await historyOf(`posts/${first.id}`);
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
    const { id } = await create('bare', {});
    for (let n = 0; n < 4; n += 1) await patch(`bare/${id}`, {});
    const page = await historyOf(`bare/${id}`, '?page=2&perPage=2');
    assert.deepEqual(
      { ...page, data: page.data.length },
      { data: 2, page: 2, perPage: 2, totalItems: 5, totalPages: 3 },
    );
    assert.deepEqual((await historyOf(`bare/${id}`, '?page=9')).data, []);
    assert.deepEqual((await historyOf(`bare/${id}`, '?perPage=0')).perPage, 50);
    assert.deepEqual((await historyOf(`bare/${id}`, '?page=99999999999999999999&perPage=5000')).perPage, 1000);
    assert.equal((await records.send('GET', `/api/bare/${id}/history?page=x`)).status, 400);
  });

  it('has a row for each record that a delete removes or clears', async () => {
    const author = await create('authors', { name: 'Ada' });
    const post = await create('posts', { title: 'with author', author: author.id });
    const comment = await create('comments', { post: post.id });
    await remove(`authors/${author.id}`);
    const cleared = (await historyOf(`posts/${post.id}`)).data[0];
    assert.deepEqual([cleared?.op, cleared?.snapshot.author], ['update', null]);
    await remove(`posts/${post.id}`);
    const last = (await historyOf(`comments/${comment.id}`)).data[0];
    assert.deepEqual([last?.op, last?.snapshot.post], ['delete', post.id]);
  });

  it('is neither written nor shown when it is off', async () => {
    const { id } = await create('plain', { title: 'x' });
    assert.equal((await records.send('GET', `/api/plain/${id}/history`)).status, 404);
    assert.equal((await restore(`plain/${id}`, 9e9)).status, 404);
    assert.equal((await records.send('GET', `/api/posts/nothing/history`)).status, 404);
    assert.equal((await records.send('GET', `/api/nowhere/nothing/history`)).status, 404);
  });

  it('checks the view rule on the record, or on the last snapshot of a deleted one', async () => {
    const open = await create('authors', { name: 'Open' });
    const mine = await create('secrets', { owner: 'u1' });
    const led = await create('secrets', { owner: 'x', author: open.id });
    const status = async (id: string, as: 'guest' | 'stranger' | 'user' | 'admin') =>
      (await records.send('GET', `/api/secrets/${id}/history`, { as })).status;
    for (const state of ['there', 'deleted']) {
      if (state === 'deleted') for (const { id } of [mine, led]) await remove(`secrets/${id}`);
      assert.deepEqual(
        await Promise.all((['guest', 'stranger', 'user', 'admin'] as const).map((as) => status(mine.id, as))),
        [403, 401, 200, 200],
        state,
      );
      assert.equal(await status(led.id, 'guest'), 200, `a relation is followed when the record is ${state}`);
    }
    assert.equal(await status('nothing', 'guest'), 404);
    // The path leads through the current records.
    await patch(`authors/${open.id}`, { name: 'Closed' });
    assert.equal(await status(led.id, 'guest'), 403);
  });

  it('gives a deleted record the verdict that it had before, for every kind of rule', async () => {
    const open = await create('authors', { name: 'Open' });
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
        { historyEnabled: true, rules: { ...rules, view: rule } },
      );
      await records.create(collection);
      const paths: string[] = [];
      for (const body of unseen ? [seen, unseen] : [seen])
        paths.push(`ruled${index}/${(await create(`ruled${index}`, { ...values, ...body })).id}`);
      const statuses = async () => {
        const answers: number[] = [];
        for (const path of paths)
          answers.push((await records.send('GET', `/api/${path}/history`, { as: 'user' })).status);
        return answers;
      };
      const expected = unseen ? [200, 403] : [200];
      assert.deepEqual(await statuses(), expected, rule);
      for (const path of paths) await remove(path);
      assert.deepEqual(await statuses(), expected, `${rule}, deleted`);
    }
  });

  it('restores as an update, with its event and its row', async () => {
    const first = await create('posts', { title: 'v1', stars: 1, tags: ['b'], meta: { a: 1 } });
    const second = await patch(`posts/${first.id}`, { title: 'v2', stars: null, tags: [], meta: null });
    await records.takeEvents();
    const answer = await restoreVersion(`posts/${first.id}`, first.updated);
    assert.equal(answer.status, 200, answer.text);
    assert.ok(answer.record.updated >= second.updated);
    const expected = { ...first, updated: answer.record.updated };
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(answer.json, { data: expected });
    const events = await records.takeEvents();
    assert.deepEqual(
      events.map(({ event, data }) => [event, data.changed]),
      [['posts.update', ['title', 'stars', 'tags', 'meta']]],
    );
    assert.deepEqual([events[0]?.data.previous, events[0]?.version], [second, answer.version]);
    const { data } = await historyOf(`posts/${first.id}`);
    assert.deepEqual(
      [data.length, data[0]?.op, data[0]?.snapshot, data[0]?.actor_type, data[0]?.version],
      [3, 'update', expected, 'admin', answer.version],
    );
  });

  it('restores vectors exactly', async () => {
    const spot: TestField = { name: 'spot', type: 'vector', options: { dimensions: 3 } };
    await records.create(testCollection('spots', [spot], { historyEnabled: true }));
    const first = await create('spots', { spot: [0.1, -1e-300, 123456.7891] });
    await patch(`spots/${first.id}`, { spot: null });
    const restored = (await restoreVersion(`spots/${first.id}`, first.updated)).record;
    assert.deepEqual(restored.spot, [0.1, -1e-300, 123456.7891]);
    assert.deepEqual((await historyOf(`spots/${first.id}`)).data.at(-1)?.snapshot.spot, first.spot);
  });

  it('restores the last version up to a second, or exactly the named version', async () => {
    const { id } = await create('posts', { title: 't0' });
    const path = `posts/${id}`;
    for (const title of ['t1', 't2', 't3', 't4']) await patch(path, { title });
    // Two versions of the second 100 and two of 105, before the current one.
    const versions = { t0: '100', t1: '100.1', t2: '105', t3: '105.12', t4: '107' };
    for (const [title, version] of Object.entries(versions))
      await records.database.query({
        text: `update history.posts set at = $3, _revision = $4 where record_id = $1 and snapshot ->> $5 = $2`,
        values: [id, title, ...`${version}.0`.split('.').slice(0, 2), posts.fields[0]?.id],
      });
    const listed = (await historyOf(path)).data.map(({ version }) => version);
    assert.deepEqual(listed, Object.values(versions).reverse());
    const times = { 99: 404, 100: 't1', 104: 't1', 105: 't3', 106: 't3', 107: 't4' };
    for (const [at, expected] of Object.entries(times)) {
      const { status, record } = await restore(path, at);
      assert.equal(status === 200 ? record.title : status, expected, at);
    }
    for (const [title, version] of Object.entries(versions))
      assert.equal((await restoreVersion(path, version)).record.title, title, version);
    assert.equal((await restore(path, '99999999999999999999')).record.title, 't4');
    for (const unknown of ['105.1', '105.120', '106', '104', '99'])
      assert.equal((await restoreVersion(path, unknown)).status, 404, unknown);
    for (const wrong of ['', 'x', '105.012', '105.0', '0105', '105.', '.1', '-1', '105.1.2', `1${'0'.repeat(20)}`])
      assert.equal((await restoreVersion(path, wrong)).status, 400, wrong);
    assert.equal((await restoreVersion(path, '105&at=105')).status, 400);
  });

  it('restores once for an idempotency key', async () => {
    const first = await create('bare', {});
    const sent: Sent = { as: 'admin', headers: { 'x-service-idempotency-key': 'restore once' } };
    const answers = [
      await restore(`bare/${first.id}`, first.updated, sent),
      await restore(`bare/${first.id}`, first.updated, sent),
    ];
    assert.deepEqual(
      answers.map(({ status, headers }) => [status, headers.get('idempotency-replayed')]),
      [
        [200, null],
        [200, 'true'],
      ],
    );
    assert.equal(answers[0]?.text, answers[1]?.text);
    assert.equal((await restore(`bare/${first.id}`, first.updated + 1, sent)).status, 422);
    assert.equal((await historyOf(`bare/${first.id}`)).data.length, 2);
  });

  it('leaves out files whose bytes are gone', async () => {
    const file = (name: string, multiple: boolean): TestField => ({ name, type: 'file', options: { multiple } });
    await records.create(testCollection('papers', [file('scan', false), file('all', true)], { historyEnabled: true }));
    const first = await create('papers', formOf({}, ['scan', 's1'], ['all', 'a'], ['all', 'b']), form);
    const [scan, [a, b]] = [String(first.scan), first.all as string[]];
    await patch(`papers/${first.id}`, formOf({ all: [b] }, ['scan', 's2'], ['all', 'c']), form);
    // A background task removes them too; the second removal finds nothing.
    for (const name of [scan, String(a)]) {
      const key = fileKey('papers', first.id, name);
      assert.ok(key);
      await records.storage.delete(key);
    }
    const restored = (await restoreVersion(`papers/${first.id}`, first.updated)).record;
    assert.match(String(restored.scan), /^s2_/, 'a single one that is gone leaves the field as it is');
    assert.deepEqual(restored.all, [b]);
  });

  it('refuses what it cannot restore, and changes nothing', async () => {
    const post = await create('posts', { title: 'taken' });
    const path = `posts/${post.id}`;
    for (const at of ['', 'soon', '1.5', '1e9']) assert.equal((await restore(path, at)).status, 400, at);
    assert.equal((await records.send('POST', `/api/${path}/restore`, { as: 'admin' })).status, 400);
    assert.equal((await restore(path, post.updated, { as: 'guest' })).status, 401);
    assert.equal((await restore(path, post.updated, { as: 'user' })).status, 403);
    assert.equal((await restore(path, post.updated - 1)).status, 404);
    assert.equal((await restore('posts/nothing', post.updated)).status, 404);
    const stale = await restore(path, post.updated, { as: 'admin', headers: { 'if-match': 'W/"1"' } });
    assert.deepEqual([stale.status, stale.headers.get('etag')], [412, `W/"${post.updated}"`]);
    await patch(path, { title: 'moved' });
    const author = await create('authors', { name: 'Brief' });
    await create('posts', { title: 'taken' });
    assert.deepEqual((await restoreVersion(path, post.updated)).json.details, { title: 'is already taken' });
    const related = await create('posts', { title: 'related', author: author.id });
    await remove(`authors/${author.id}`);
    assert.deepEqual((await restoreVersion(`posts/${related.id}`, related.updated)).json.details, {
      author: 'refers to no record',
    });
    await remove(path);
    assert.equal((await restore(path, post.updated)).status, 409);
    assert.equal((await historyOf(path)).data.length, 3);
  });

  it('identifies fields by id: renamed, dropped, new and multiple ones', async () => {
    const fields = testCollection('moving', [
      { name: 'old', id: 'f1' },
      { name: 'dropped', id: 'f2' },
      { name: 'kind', id: 'f3', type: 'select', options: { values: ['x', 'y'], multiple: false } },
    ]);
    const moving = { ...fields, historyEnabled: true };
    await records.create(moving);
    const first = await create('moving', { old: 'v1', dropped: 'd', kind: 'x' });
    await patch(`moving/${first.id}`, { old: 'v2', kind: 'y' });
    const [one, , three] = moving.fields;
    assert.ok(one && three);
    await redefine(
      moving,
      [
        { ...one, name: 'renamed' },
        { ...three, options: { values: ['x', 'y'], multiple: true } },
        { ...one, id: 'f4', name: 'added' },
      ],
      'alter table records.moving drop column dropped',
      'alter table records.moving rename column old to renamed',
      'alter table records.moving alter column kind type jsonb using jsonb_build_array(kind)',
      'alter table records.moving add column added text',
    );
    const present = await patch(`moving/${first.id}`, { added: 'kept' });
    assert.deepEqual(present.kind, ['y']);
    const { data } = await historyOf(`moving/${first.id}`);
    assert.deepEqual(data.at(-1)?.snapshot, {
      id: first.id,
      renamed: 'v1',
      kind: ['x'],
      added: null,
      created: first.created,
      updated: first.updated,
    });
    const restored = (await restoreVersion(`moving/${first.id}`, first.updated)).record;
    assert.deepEqual([restored.renamed, restored.kind, restored.added], ['v1', ['x'], 'kept']);
  });

  it('does not restore a value that its field now refuses', async () => {
    const narrowed = testCollection('narrowed', [{ name: 'text' }], { historyEnabled: true });
    await records.create(narrowed);
    const first = await create('narrowed', { text: 'too long' });
    await patch(`narrowed/${first.id}`, { text: 'ok' });
    await redefine(
      narrowed,
      narrowed.fields.map((field) => ({ ...field, options: { max: 3 } })),
    );
    const { status, json } = await restoreVersion(`narrowed/${first.id}`, first.updated);
    assert.deepEqual([status, json.details], [422, { text: 'must have at most 3 characters' }]);
  });

  it('has the later writes of a record that is older than the switch', async () => {
    const older = testCollection('older', [{ name: 'title' }], { historyEnabled: true });
    await records.create({ ...older, historyEnabled: false });
    const first = await create('older', { title: 'v1' });
    await redefine(
      older,
      older.fields,
      planHistoryTable(older),
      "update system.collections set history_enabled = true where id = 'older'",
    );
    assert.deepEqual((await historyOf(`older/${first.id}`)).data, []);
    assert.equal((await restore(`older/${first.id}`, 9e9)).status, 404);
    const second = await patch(`older/${first.id}`, { title: 'v2' });
    assert.deepEqual(
      (await historyOf(`older/${first.id}`)).data.map(({ snapshot }) => snapshot),
      [second],
    );
    assert.equal((await restoreVersion(`older/${first.id}`, first.updated)).status, 404);
  });

  it('restores once for two requests with the same If-Match, and after an earlier write', async () => {
    const first = await create('posts', { title: 'r1' });
    const second = await records.send('PATCH', `/api/posts/${first.id}`, { body: { title: 'r2' } });
    const headers = { 'if-match': `W/"${second.version}"` };
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => restoreVersion(`posts/${first.id}`, first.updated, { as: 'admin', headers })),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 412, 412, 412, 412, 412]);
    const [last] = (await historyOf(`posts/${first.id}`)).data;
    assert.equal(last?.snapshot.title, 'r1');
    // The restore reads every version that was written before it got its lock.
    const far = 9e9;
    await Promise.all([
      ...['a', 'b', 'c'].map((title) => patch(`posts/${first.id}`, { title })),
      ...[1, 2, 3].map(() => restore(`posts/${first.id}`, far)),
    ]);
    const titles = (await historyOf(`posts/${first.id}`)).data.map(({ snapshot }) => snapshot.title).reverse();
    // A restore of the latest version changes no title, so no earlier title returns.
    const changes = titles.slice(3).filter((title, index, all) => title !== all[index - 1]);
    assert.equal(new Set(changes).size, changes.length, titles.join());
    assert.equal(titles.length, 9);
  });

  it('has one row for each of many parallel writes', async () => {
    const { id } = await create('posts', { title: 'busy' });
    await Promise.all(Array.from({ length: 20 }, (_, stars) => patch(`posts/${id}`, { stars })));
    const { data } = await historyOf(`posts/${id}`);
    assert.equal(data.length, 21);
    assert.equal(new Set(data.map(({ version }) => version)).size, 21);
    const [live] = data;
    const { record } = await records.send('GET', `/api/posts/${id}`);
    assert.deepEqual(live?.snapshot, record);
  });
});
