import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { fileKey } from '@recordbus/storage';
import { type HistoryFixture, posts, startHistory } from './history-fixture.ts';
import { type RecordsFixture, type Sent, skipWithoutDatabase } from './records-fixture.ts';
import { type TestField, testCollection } from './test-collection.ts';

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

describe('restoring from history', { skip: skipWithoutDatabase }, () => {
  let fixture: HistoryFixture;
  let records: RecordsFixture;

  before(async () => {
    fixture = await startHistory();
    records = fixture.records;
  });
  after(() => fixture?.records.stop());
  beforeEach(() => fixture?.records.takeEvents());

  it('is an update, with its event and its history row', async () => {
    const first = await fixture.create('posts', { title: 'v1', stars: 1, tags: ['b'], meta: { a: 1 } });
    const second = await fixture.patch(`posts/${first.id}`, { title: 'v2', stars: null, tags: [], meta: null });
    await records.takeEvents();
    const answer = await fixture.restoreVersion(`posts/${first.id}`, first.updated);
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
    const { data } = await fixture.historyOf(`posts/${first.id}`);
    assert.deepEqual(
      [data.length, data[0]?.op, data[0]?.snapshot, data[0]?.actor_type, data[0]?.version],
      [3, 'update', expected, 'admin', answer.version],
    );
  });

  it('keeps vectors exact', async () => {
    const spot: TestField = { name: 'spot', type: 'vector', options: { dimensions: 3 } };
    await records.create(testCollection('spots', [spot], { historyEnabled: true }));
    const first = await fixture.create('spots', { spot: [0.1, -1e-300, 123456.7891] });
    await fixture.patch(`spots/${first.id}`, { spot: null });
    const restored = (await fixture.restoreVersion(`spots/${first.id}`, first.updated)).record;
    assert.deepEqual(restored.spot, [0.1, -1e-300, 123456.7891]);
    assert.deepEqual((await fixture.historyOf(`spots/${first.id}`)).data.at(-1)?.snapshot.spot, first.spot);
  });

  it('takes the last version up to a second, or exactly the named version', async () => {
    const { id } = await fixture.create('posts', { title: 't0' });
    const path = `posts/${id}`;
    for (const title of ['t1', 't2', 't3', 't4']) await fixture.patch(path, { title });
    // Two versions in the second 100 and two in 105, before the current one.
    const versions = { t0: '100', t1: '100.1', t2: '105', t3: '105.12', t4: '107' };
    for (const [title, version] of Object.entries(versions))
      await records.database.query({
        text: `update history.posts set at = $3, _revision = $4 where record_id = $1 and snapshot ->> $5 = $2`,
        values: [id, title, ...`${version}.0`.split('.').slice(0, 2), posts.fields[0]?.id],
      });
    const listed = (await fixture.historyOf(path)).data.map(({ version }) => version);
    assert.deepEqual(listed, Object.values(versions).reverse());
    const times = { 99: 404, 100: 't1', 104: 't1', 105: 't3', 106: 't3', 107: 't4' };
    for (const [at, expected] of Object.entries(times)) {
      const { status, record } = await fixture.restore(path, at);
      assert.equal(status === 200 ? record.title : status, expected, at);
    }
    for (const [title, version] of Object.entries(versions))
      assert.equal((await fixture.restoreVersion(path, version)).record.title, title, version);
    assert.equal((await fixture.restore(path, '99999999999999999999')).record.title, 't4');
    for (const unknown of ['105.1', '105.120', '106', '104', '99'])
      assert.equal((await fixture.restoreVersion(path, unknown)).status, 404, unknown);
    for (const wrong of ['', 'x', '105.012', '105.0', '0105', '105.', '.1', '-1', '105.1.2', `1${'0'.repeat(20)}`])
      assert.equal((await fixture.restoreVersion(path, wrong)).status, 400, wrong);
    assert.equal((await fixture.restoreVersion(path, '105&at=105')).status, 400);
  });

  it('happens once for an idempotency key', async () => {
    const first = await fixture.create('bare', {});
    const sent: Sent = { as: 'admin', headers: { 'x-service-idempotency-key': 'restore once' } };
    const answers = [
      await fixture.restore(`bare/${first.id}`, first.updated, sent),
      await fixture.restore(`bare/${first.id}`, first.updated, sent),
    ];
    assert.deepEqual(
      answers.map(({ status, headers }) => [status, headers.get('idempotency-replayed')]),
      [
        [200, null],
        [200, 'true'],
      ],
    );
    assert.equal(answers[0]?.text, answers[1]?.text);
    assert.equal((await fixture.restore(`bare/${first.id}`, first.updated + 1, sent)).status, 422);
    assert.equal((await fixture.historyOf(`bare/${first.id}`)).data.length, 2);
  });

  it('leaves out files whose content is gone', async () => {
    const file = (name: string, multiple: boolean): TestField => ({ name, type: 'file', options: { multiple } });
    await records.create(testCollection('papers', [file('scan', false), file('all', true)], { historyEnabled: true }));
    const first = await fixture.create('papers', formOf({}, ['scan', 's1'], ['all', 'a'], ['all', 'b']), form);
    const [scan, [a, b]] = [String(first.scan), first.all as string[]];
    await fixture.patch(`papers/${first.id}`, formOf({ all: [b] }, ['scan', 's2'], ['all', 'c']), form);
    // A background task removes them too; the second removal finds nothing.
    for (const name of [scan, String(a)]) {
      const key = fileKey('papers', first.id, name);
      assert.ok(key);
      await records.storage.delete(key);
    }
    const restored = (await fixture.restoreVersion(`papers/${first.id}`, first.updated)).record;
    assert.match(String(restored.scan), /^s2_/, 'a single file that is gone leaves the field unchanged');
    assert.deepEqual(restored.all, [b]);
  });

  it('is refused where it cannot succeed, and changes nothing', async () => {
    const post = await fixture.create('posts', { title: 'taken' });
    const path = `posts/${post.id}`;
    for (const at of ['', 'soon', '1.5', '1e9']) assert.equal((await fixture.restore(path, at)).status, 400, at);
    assert.equal((await records.send('POST', `/api/${path}/restore`, { as: 'admin' })).status, 400);
    assert.equal((await fixture.restore(path, post.updated, { as: 'guest' })).status, 401);
    assert.equal((await fixture.restore(path, post.updated, { as: 'user' })).status, 403);
    assert.equal((await fixture.restore(path, post.updated - 1)).status, 404);
    assert.equal((await fixture.restore('posts/nothing', post.updated)).status, 404);
    const stale = await fixture.restore(path, post.updated, { as: 'admin', headers: { 'if-match': 'W/"1"' } });
    assert.deepEqual([stale.status, stale.headers.get('etag')], [412, `W/"${post.updated}"`]);
    await fixture.patch(path, { title: 'moved' });
    const author = await fixture.create('authors', { name: 'Brief' });
    await fixture.create('posts', { title: 'taken' });
    assert.deepEqual((await fixture.restoreVersion(path, post.updated)).json.details, { title: 'is already taken' });
    const related = await fixture.create('posts', { title: 'related', author: author.id });
    await fixture.remove(`authors/${author.id}`);
    assert.deepEqual((await fixture.restoreVersion(`posts/${related.id}`, related.updated)).json.details, {
      author: 'refers to no record',
    });
    await fixture.remove(path);
    assert.equal((await fixture.restore(path, post.updated)).status, 409);
    assert.equal((await fixture.historyOf(path)).data.length, 3);
  });

  it('identifies fields by id: renamed, dropped, new and multiple ones', async () => {
    const fields = testCollection('moving', [
      { name: 'old', id: 'f1' },
      { name: 'dropped', id: 'f2' },
      { name: 'kind', id: 'f3', type: 'select', options: { values: ['x', 'y'], multiple: false } },
    ]);
    const moving = { ...fields, historyEnabled: true };
    await records.create(moving);
    const first = await fixture.create('moving', { old: 'v1', dropped: 'd', kind: 'x' });
    await fixture.patch(`moving/${first.id}`, { old: 'v2', kind: 'y' });
    const [one, , three] = moving.fields;
    assert.ok(one && three);
    await fixture.redefine(
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
    const present = await fixture.patch(`moving/${first.id}`, { added: 'kept' });
    assert.deepEqual(present.kind, ['y']);
    const { data } = await fixture.historyOf(`moving/${first.id}`);
    assert.deepEqual(data.at(-1)?.snapshot, {
      id: first.id,
      renamed: 'v1',
      kind: ['x'],
      added: null,
      created: first.created,
      updated: first.updated,
    });
    const restored = (await fixture.restoreVersion(`moving/${first.id}`, first.updated)).record;
    assert.deepEqual([restored.renamed, restored.kind, restored.added], ['v1', ['x'], 'kept']);
  });

  it('is refused for a value that its field no longer allows', async () => {
    const narrowed = testCollection('narrowed', [{ name: 'text' }], { historyEnabled: true });
    await records.create(narrowed);
    const first = await fixture.create('narrowed', { text: 'too long' });
    await fixture.patch(`narrowed/${first.id}`, { text: 'ok' });
    await fixture.redefine(
      narrowed,
      narrowed.fields.map((field) => ({ ...field, options: { max: 3 } })),
    );
    const { status, json } = await fixture.restoreVersion(`narrowed/${first.id}`, first.updated);
    assert.deepEqual([status, json.details], [422, { text: 'must have at most 3 characters' }]);
  });

  it('happens once for requests with the same If-Match, and after all earlier writes', async () => {
    const first = await fixture.create('posts', { title: 'r1' });
    const second = await records.send('PATCH', `/api/posts/${first.id}`, { body: { title: 'r2' } });
    const headers = { 'if-match': `W/"${second.version}"` };
    const answers = await Promise.all(
      Array.from({ length: 6 }, () =>
        fixture.restoreVersion(`posts/${first.id}`, first.updated, { as: 'admin', headers }),
      ),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 412, 412, 412, 412, 412]);
    const [last] = (await fixture.historyOf(`posts/${first.id}`)).data;
    assert.equal(last?.snapshot.title, 'r1');
    // The restore reads every version that was written before it got its lock.
    const far = 9e9;
    await Promise.all([
      ...['a', 'b', 'c'].map((title) => fixture.patch(`posts/${first.id}`, { title })),
      ...[1, 2, 3].map(() => fixture.restore(`posts/${first.id}`, far)),
    ]);
    const titles = (await fixture.historyOf(`posts/${first.id}`)).data.map(({ snapshot }) => snapshot.title).reverse();
    // Restoring the latest version changes no title, so no earlier title returns.
    const changes = titles.slice(3).filter((title, index, all) => title !== all[index - 1]);
    assert.equal(new Set(changes).size, changes.length, titles.join());
    assert.equal(titles.length, 9);
  });
});
