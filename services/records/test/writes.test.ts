import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type RecordsFixture, skipWithoutDatabase, startRecords } from './records-fixture.ts';
import { testCollection } from './test-collection.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-([0-9a-f])[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const absentId = '01890000-0000-7000-8000-000000000000';

describe('writing records', { skip: skipWithoutDatabase }, () => {
  let records: RecordsFixture;

  before(async () => {
    records = await startRecords([
      testCollection('authors', [{ name: 'name', required: true }]),
      testCollection('posts', [
        { name: 'title', required: true, options: { min: 2, max: 20 } },
        { name: 'slug', options: { unique: true } },
        { name: 'size', type: 'number' },
        { name: 'live', type: 'bool' },
        { name: 'meta', type: 'json' },
        { name: 'author', type: 'relation', collection: 'authors' },
      ]),
    ]);
  });
  after(() => records?.stop());
  beforeEach(() => records?.takeEvents());

  const create = async (body: object) => (await records.send('POST', '/api/posts', { body })).record;

  describe('create', () => {
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
      assert.deepEqual(event, {
        id: event?.id,
        event: 'posts.create',
        timestamp: created,
        collection: 'posts',
        version: String(updated),
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

    it('keeps a text as it was written', async () => {
      for (const title of ['"quotes"', "'; drop table", 'ünï — 😀', 'a\nb\tc', '\\u0041 \\', '$1 %s']) {
        assert.equal((await create({ title })).title, title);
      }
      const events = await records.takeEvents();
      assert.ok(events.some(({ data }) => data.record.title === 'ünï — 😀'));
    });

    it('ignores what the server sets', async () => {
      const made = await create({ title: 'Echo' });
      const again = await create({ ...made, expand: {}, anonymous: true, created_at: 1, updated_at: 1, _score: 1 });
      assert.notEqual(again.id, made.id);
      assert.ok(again.created > 1_000_000_000);
    });

    it('reads an empty text as no value for types without texts', async () => {
      const made = await create({ title: 'Empty', size: '', live: '', author: '', slug: null });
      assert.deepEqual([made.size, made.live, made.author, made.slug], [null, null, null, null]);
    });

    const refused: [string, unknown, Record<string, string>][] = [
      ['no body', undefined, { title: 'is required' }],
      ['a missing field', {}, { title: 'is required' }],
      ['an empty required field', { title: '' }, { title: 'is required' }],
      ['an unknown key', { title: 'Fine', colour: 1 }, { colour: 'is not a field of posts' }],
      [
        'everything at once',
        { size: 'x', live: 1 },
        { title: 'is required', size: 'must be a number', live: 'must be true or false' },
      ],
      ['what is too long', { title: 'x'.repeat(21) }, { title: 'must have at most 20 characters' }],
      ['a NUL', { title: 'a\0b' }, { title: 'must not contain NUL or half a surrogate pair' }],
      ['a relation to no record', { title: 'Fine', author: absentId }, { author: 'refers to no record' }],
      [
        'a relation to a record of another type of id',
        { title: 'Fine', author: 7 },
        { author: 'must be the id of a record' },
      ],
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

    it('lets one of fifty parallel creates take a unique value', async () => {
      const answers = await Promise.all(
        Array.from({ length: 50 }, () => records.send('POST', '/api/posts', { body: { title: 'Race', slug: 'race' } })),
      );
      const statuses = answers.map(({ status }) => status).sort();
      assert.deepEqual(statuses, [201, ...Array(49).fill(422)]);
      assert.equal((await records.takeEvents()).length, 1);
    });
  });

  describe('update', () => {
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

    it('treats an update that changes nothing as a write', async () => {
      const before = await create({ title: 'Same' });
      await records.takeEvents();
      const { version, record } = await records.send('PATCH', `/api/posts/${before.id}`, { body: before });
      assert.deepEqual(record, { ...before, updated: record.updated });
      assert.notEqual(version, String(before.updated));
      const [event] = await records.takeEvents();
      assert.deepEqual(event?.data.changed, []);
    });

    it('gives each write a new version, and never an `updated` ahead of the clock', async () => {
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
      ['a required field cleared', { title: null }, { title: 'is required' }],
      ['a wrong type', { live: 'yes' }, { live: 'must be true or false' }],
      ['a relation to no record', { author: absentId }, { author: 'refers to no record' }],
      ['a unique value that is taken', { slug: 'owned' }, { slug: 'is already taken' }],
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
  });

  describe('If-Match', () => {
    it('admits a matching version: weak, strong, in a list, or any', async () => {
      const { id, updated } = await create({ title: 'Match' });
      const tagsOf = [
        (version: string) => `W/"${version}"`,
        (version: string) => `"${version}"`,
        (version: string) => `"x", W/"${version}"`,
        () => '*',
      ];
      const versions = [String(updated)];
      for (const tagOf of tagsOf) {
        const headers = { 'if-match': tagOf(versions.at(-1) ?? '') };
        const answer = await records.send('PATCH', `/api/posts/${id}`, { body: {}, headers });
        assert.equal(answer.status, 200);
        versions.push(answer.version);
      }
      assert.equal(new Set(versions).size, 5);
    });

    it('answers 412 with the current tag, and writes nothing', async () => {
      const { id, updated } = await create({ title: 'Mismatch' });
      await records.takeEvents();
      const etag = `W/"${updated}"`;
      for (const method of ['PATCH', 'DELETE']) {
        for (const tag of ['W/"1"', '"nonsense"', 'unquoted', `"${updated}0"`, `"${updated}.0"`, `"${updated}.1"`]) {
          const body = method === 'PATCH' ? { title: 'Changed' } : undefined;
          const { status, headers, json } = await records.send(method, `/api/posts/${id}`, {
            body,
            headers: { 'if-match': tag },
          });
          assert.deepEqual(
            [status, headers.get('etag'), json.code, json.details],
            [412, etag, 'precondition_failed', { etag }],
          );
        }
      }
      assert.equal((await records.send('GET', `/api/posts/${id}`)).record.title, 'Mismatch');
      assert.deepEqual(await records.takeEvents(), []);
    });

    it('admits one of twenty parallel changes of one version', async () => {
      const { id, updated } = await create({ title: 'Race' });
      await records.takeEvents();
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, size) =>
          records.send('PATCH', `/api/posts/${id}`, { body: { size }, headers: { 'if-match': `W/"${updated}"` } }),
        ),
      );
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(19).fill(412)]);
      assert.equal((await records.takeEvents()).length, 1);
      const won = answers.find(({ status }) => status === 200);
      assert.ok(answers.every(({ headers }) => headers.get('etag') === won?.headers.get('etag')));
    });

    it('admits one of parallel changes and deletes of one version', async () => {
      const { id, updated } = await create({ title: 'Mixed' });
      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, index) => {
          const headers = { 'if-match': `W/"${updated}"` };
          return index % 2
            ? records.send('DELETE', `/api/posts/${id}`, { headers })
            : records.send('PATCH', `/api/posts/${id}`, { body: { size: index }, headers });
        }),
      );
      const statuses = answers.map(({ status }) => status);
      assert.equal(statuses.filter((status) => status === 200).length, 1);
      assert.ok(
        statuses.every((status) => [200, 404, 412].includes(status)),
        String(statuses),
      );
    });
  });

  describe('delete', () => {
    it('answers null, and the event has the last state of the record', async () => {
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
});
