import assert from 'node:assert/strict';
import type { Client } from '../harness/clients/client.ts';
import { at, listAt, textAt } from '../harness/json.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { several } from './tagged-posts.ts';

/** The ids in a list, and the ids of its expanded records, which differ only if an id is dangling. */
async function readList(client: Client, path: string): Promise<readonly [ids: unknown, found: unknown]> {
  const { json } = await client.get(`${path}?expand=tags`);
  return [at(json, 'data.tags'), listAt(json, 'data.expand.tags').map(({ id }) => id)];
}

onEachTopology("relation lists hold no deleted record's id [fields §3.9]", async (t, target) => {
  const { guest } = target;
  const admin = await target.admin();
  await admin.define('tags', []);
  await admin.define('posts', [several('tags', 'tags')]);
  const tag = async () => (await guest.create('tags', {})).id;
  const tags = (count: number) => Promise.all(Array.from({ length: count }, tag));
  const post = async (ids: readonly string[]) => `/api/v1/posts/${(await guest.create('posts', { tags: ids })).id}`;

  await t.test('a record is deleted while it is put into lists', async () => {
    for (let round = 0; round < 50; round += 1) {
      const [kept = '', gone = ''] = await tags(2);
      const path = await post([kept]);
      const [created, updated, , deleted] = await Promise.all([
        guest.send('POST', '/api/v1/posts', { body: { tags: [gone, kept] } }),
        guest.send('PATCH', path, { body: { tags: [kept, gone] } }),
        guest.send('PATCH', path, { body: { tags: { $append: [gone] } } }),
        guest.send('DELETE', `/api/v1/tags/${gone}`),
      ]);
      assert.equal(deleted.status, 200, deleted.text);
      for (const [answer, success] of [
        [created, 201],
        [updated, 200],
      ] as const) {
        assert.ok(answer.status === success || answer.status === 422, answer.text);
        if (answer.status === 422) assert.deepEqual(Object.keys(at(answer.json, 'details') as object), ['tags']);
      }
      const paths = created.status === 201 ? [path, `/api/v1/posts/${textAt(created.json, 'data.id')}`] : [path];
      for (const one of paths) assert.deepEqual(await readList(guest, one), [[kept], [kept]]);
    }
  });

  await t.test('many writers add to one list while others delete its targets', async () => {
    const all = await tags(40);
    const path = await post([]);
    const appended = all.map((id) => guest.send('PATCH', path, { body: { tags: { $append: [id] } } }));
    const going = all.filter((_, index) => index % 2 === 0);
    const deleted = going.map((id) => guest.send('DELETE', `/api/v1/tags/${id}`));
    const answers = await Promise.all([...appended, ...deleted]);
    for (const { status, text } of answers) assert.ok(status === 200 || status === 422, text);
    const [ids, found] = await readList(guest, path);
    assert.deepEqual(ids, found);
    const staying = all.filter((id) => !going.includes(id));
    assert.deepEqual([...(ids as string[])].sort(), staying.sort());
  });

  await t.test('among several writers with the same version, one wins, and its list is stored', async () => {
    const all = await tags(20);
    const path = await post([]);
    const { headers } = await guest.get(path);
    const answers = await Promise.all(
      all.map((id) =>
        guest.send('PATCH', path, { body: { tags: [id] }, headers: { 'If-Match': String(headers.etag) } }),
      ),
    );
    const winners = all.filter((_, index) => answers[index]?.status === 200);
    assert.equal(winners.length, 1);
    assert.deepEqual(await readList(guest, path), [winners, winners]);
  });

  await t.test('200 whole lists are written at once', async () => {
    const all = await tags(10);
    const path = await post(all);
    const rotated = (by: number) => [...all.slice(by % 10), ...all.slice(0, by % 10)].slice(0, 1 + (by % 7));
    const lists = Array.from({ length: 200 }, (_, index) => rotated(index));
    const answers = await Promise.all(lists.map((ids) => guest.send('PATCH', path, { body: { tags: ids } })));
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
    const [ids, found] = await readList(guest, path);
    assert.deepEqual(ids, found);
    for (const id of all) await guest.delete(`/api/v1/tags/${id}`);
    assert.deepEqual(await readList(guest, path), [[], []]);
  });
});
