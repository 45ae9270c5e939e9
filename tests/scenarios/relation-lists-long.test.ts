import assert from 'node:assert/strict';
import { at } from '../harness/json.ts';
import { refused } from '../harness/refusals.ts';
import { inDatabase } from '../harness/stacks/in-database.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onOneProcess, type Target } from '../harness/stacks/target.ts';
import { unknownId } from './blog.ts';
import { several } from './tagged-posts.ts';

/** Creates many records in the collection. */
async function createMany(target: Target, collection: string, count: number): Promise<string[]> {
  const rows = await inDatabase(
    target,
    `insert into records."${collection}" (id, created_at, updated_at)
     select gen_random_uuid(), 1, 1 from generate_series(1, $1::integer) returning id`,
    [count],
  );
  return rows.map(({ id }) => String(id));
}

/** How many bytes the link tables take. Refused writes take space too until the next vacuum. */
async function bytesOfLinks(target: Target): Promise<number> {
  const [row] = await inDatabase(
    target,
    `select sum(pg_relation_size(c.oid)) as bytes from pg_class c where c.relnamespace = 'links'::regnamespace and c.relkind = 'r'`,
    [],
  );
  return Number(row?.bytes);
}

onOneProcess('a long list is checked before it is written', async (t, target) => {
  const { guest } = target;
  const admin = await target.admin();
  const { id: collectionId } = (await admin.define('tags', [])) as { id: string };
  await admin.define('posts', [several('tags', 'tags'), several('posts', 'posts')]);
  const unknown = Array.from({ length: 20_000 }, (_, index) => `no-such-tag-${index}`);
  const post = await admin.create('posts', {});
  const refusal = (name: string, request: string, body: object, field = 'tags'): Scenario => ({
    name,
    spec: 'fields §3.9',
    request,
    body,
    expect: refused.invalid(field),
  });
  const [path, own] = ['/api/v1/posts', `/api/v1/posts/${post.id}`];

  const before = await bytesOfLinks(target);
  await runScenarios(t, target, [
    refusal('ids that are not there, in a POST', `POST ${path}`, { tags: unknown }),
    refusal('ids that are not there, in a PATCH', `PATCH ${own}`, { tags: unknown }),
    refusal('ids that are not there, in a PUT', `PUT ${path}/fresh`, { tags: unknown }),
    refusal('ids that are not there, appended', `PATCH ${own}`, { tags: { $append: unknown } }),
    refusal('in the second list', `POST ${path}`, { posts: unknown }, 'posts'),
  ]);
  await t.test('no link was written for them [fields §3.9]', async () => {
    assert.equal(await bytesOfLinks(target), before);
  });

  const tags = await createMany(target, 'tags', 10_000);
  const others = await createMany(target, 'posts', 200);
  const written = (name: string, request: string, body: object, status = 200): Scenario => ({
    name,
    spec: 'fields §3.9',
    request,
    body,
    expect: { status },
    events: [status === 201 ? 'posts.create' : 'posts.update'],
  });
  await runScenarios(t, target, [
    written('10,000 records', `POST ${path}`, { tags }, 201),
    written('10,000 records, in a PATCH', `PATCH ${own}`, { tags }),
    refusal('one more that is not there', `PATCH ${own}`, { tags: { $append: [unknownId] } }),
    refusal('the last of a list', `POST ${path}`, { tags: [...tags.slice(0, 200), unknownId] }),
    written('a new record among those that it lists', `PUT ${path}/own`, { posts: [...others, 'own'] }, 201),
    written('another order', `PATCH ${own}`, { tags: tags.toReversed() }),
  ]);

  await t.test("a renamed collection's records [collections §6.5]", async () => {
    await admin.patch(`/api/v1/collections/${collectionId}`, { name: 'labels' });
    const created = await guest.send('POST', path, { body: { tags: tags.slice(0, 200) } });
    assert.equal(created.status, 201, created.text);
    const missing = await guest.send('POST', path, { body: { tags: [...tags.slice(0, 200), unknownId] } });
    assert.deepEqual([missing.status, Object.keys(at(missing.json, 'details') as object)], [422, ['tags']]);
  });
});
