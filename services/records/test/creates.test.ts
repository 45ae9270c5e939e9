import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type RecordsFixture, skipWithoutDatabase } from './records-fixture.ts';
import { absentId, startPosts } from './write-fixture.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-([0-9a-f])[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('creating a record', { skip: skipWithoutDatabase }, () => {
  let records: RecordsFixture;

  before(async () => {
    records = await startPosts();
  });
  after(() => records?.stop());
  beforeEach(() => records?.takeEvents());

  const create = async (body: object) => (await records.send('POST', '/api/posts', { body })).record;

  it('answers 201 with the record, and writes its event in the same statement', async () => {
    const answer = await records.send('POST', '/api/posts', {
      as: 'user',
      body: { title: 'First', size: 1e21, live: false, meta: { big: 12345678901234567890n.toString(), a: [] } },
    });
    assert.equal(answer.status, 201);
    const { record: data } = answer;
    assert.equal(uuid.exec(data.id)?.[1], '7');
    assert.ok(Math.abs(data.created - Date.now() / 1000) < 5);
    assert.equal(data.updated, data.created);
    assert.equal(answer.headers.get('etag'), `W/"${data.updated}"`);
    const { id, created, updated, ...fields } = data;
    assert.deepEqual(fields, {
      title: 'First',
      slug: null,
      size: 1e21,
      live: false,
      meta: { a: [], big: '12345678901234567890' },
      author: null,
    });
    const [event, ...others] = await records.takeEvents();
    assert.deepEqual(others, []);
    assert.match(event?.id ?? '', uuid);
    assert.match(String(event?.schema), /^[\w-]{11}$/);
    assert.deepEqual(event, {
      id: event?.id,
      event: 'posts.create',
      timestamp: created,
      collection: 'posts',
      version: String(updated),
      schema: event?.schema,
      data: { record: data },
      actor: { type: 'user', id: 'u1' },
      request_id: 'r1',
    });
    const [row] = await records.database.query<{ traceparent: string; record_key: string; same: boolean }>({
      text: 'select traceparent, record_key, event_id::text = $1 as same from system.outbox order by id desc limit 1',
      values: [event?.id],
    });
    assert.deepEqual(row, {
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00',
      record_key: `posts/${id}`,
      same: true,
    });
  });

  it('keeps texts unchanged', async () => {
    for (const title of ['"quotes"', "'; drop table", 'ünï — 😀', 'a\nb\tc', '\\u0041 \\', '$1 %s']) {
      assert.equal((await create({ title })).title, title);
    }
    const events = await records.takeEvents();
    assert.ok(events.some(({ data }) => data.record.title === 'ünï — 😀'));
  });

  it('ignores members that only the server sets', async () => {
    const made = await create({ title: 'Echo' });
    const again = await create({ ...made, expand: {}, anonymous: true, created_at: 1, updated_at: 1, _score: 1 });
    assert.notEqual(again.id, made.id);
    assert.ok(again.created > 1_000_000_000);
  });

  it('reads an empty text as null for types other than text', async () => {
    const made = await create({ title: 'Empty', size: '', live: '', author: '', slug: null });
    assert.deepEqual([made.size, made.live, made.author, made.slug], [null, null, null, null]);
  });

  const refused: [string, unknown, Record<string, string>][] = [
    ['a missing body', undefined, { title: 'is required' }],
    ['a missing field', {}, { title: 'is required' }],
    ['an empty required field', { title: '' }, { title: 'is required' }],
    ['an unknown key', { title: 'Fine', colour: 1 }, { colour: 'is not a field of posts' }],
    [
      'several invalid fields',
      { size: 'x', live: 1 },
      { title: 'is required', size: 'must be a number', live: 'must be true or false' },
    ],
    ['a text that is too long', { title: 'x'.repeat(21) }, { title: 'must have at most 20 characters' }],
    ['a NUL character', { title: 'a\0b' }, { title: 'must not contain NUL or half a surrogate pair' }],
    ['a relation to a missing record', { title: 'Fine', author: absentId }, { author: 'refers to no record' }],
    ['a relation that is not an id', { title: 'Fine', author: 7 }, { author: 'must be the id of a record' }],
  ];
  for (const [title, body, details] of refused) {
    it(`refuses ${title}`, async () => {
      const { status, json } = await records.send('POST', '/api/posts', { body });
      assert.deepEqual([status, json], [422, { error: 'validation failed', code: 'validation_failed', details }]);
      assert.deepEqual(await records.takeEvents(), []);
    });
  }

  for (const body of ['{', '[]', '"x"', '7', 'null', '{"title":"\xff"']) {
    it(`refuses the body ${body}`, async () => {
      const { status, json } = await records.send('POST', '/api/posts', { body });
      assert.deepEqual([status, json.code], [400, 'malformed_request']);
    });
  }

  it('refuses a taken unique value, but not null or an empty text', async () => {
    await create({ title: 'One', slug: 'taken' });
    const { status, json } = await records.send('POST', '/api/posts', { body: { title: 'Two', slug: 'taken' } });
    assert.deepEqual([status, json.details], [422, { slug: 'is already taken' }]);
    await create({ title: 'Three', slug: null });
    assert.equal((await records.send('POST', '/api/posts', { body: { title: 'Four', slug: null } })).status, 201);
  });

  it('lets one of 50 parallel creates take a unique value', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => records.send('POST', '/api/posts', { body: { title: 'Race', slug: 'race' } })),
    );
    const statuses = answers.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [201, ...Array(49).fill(422)]);
    assert.equal((await records.takeEvents()).length, 1);
  });
});
