import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type RecordsFixture, skipWithoutDatabase } from './records-fixture.ts';
import { startPosts } from './write-fixture.ts';

describe('a write with If-Match', { skip: skipWithoutDatabase }, () => {
  let records: RecordsFixture;

  before(async () => {
    records = await startPosts();
  });
  after(() => records?.stop());
  beforeEach(() => records?.takeEvents());

  const create = async (body: object) => (await records.send('POST', '/api/posts', { body })).record;

  it('succeeds with a matching tag: weak, strong, in a list, or *', async () => {
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

  it('fails with 412 and the current tag otherwise, and writes nothing', async () => {
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

  it('succeeds for one of 20 parallel updates of one version', async () => {
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

  it('succeeds for one of several parallel updates and deletes of one version', async () => {
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
