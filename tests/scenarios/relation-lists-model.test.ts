import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Client } from '../harness/clients/client.ts';
import { at, listAt, textAt } from '../harness/json.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { several } from './tagged-posts.ts';

const seed = Number(process.env.FUZZ_SEED ?? 20261123);

/** A step in the run. Its numbers pick among the existing tags and posts. */
interface Step {
  readonly kind: (typeof kinds)[number];
  readonly post: number;
  readonly tags: readonly number[];
}

const kinds = ['tag', 'create', 'set', 'append', 'prepend', 'remove', 'restore', 'deleteTag', 'deletePost'] as const;

const steps = fc.array(
  fc.record({
    kind: fc.constantFrom(...kinds, 'tag', 'tag', 'create', 'create'),
    post: fc.nat(50),
    tags: fc.array(fc.nat(50), { maxLength: 6 }),
  }),
  { minLength: 150, maxLength: 150, size: 'max' },
);

/** The expected records. */
class Model {
  readonly tags: string[] = [];
  readonly posts = new Map<
    string,
    { list: readonly string[]; readonly first: string; readonly firstList: readonly string[] }
  >();

  pickTags(numbers: readonly number[]): string[] {
    if (this.tags.length === 0) return [];
    return [...new Set(numbers.map((number) => this.tags[number % this.tags.length] ?? ''))];
  }

  pickPost(number: number): string | undefined {
    return [...this.posts.keys()][number % Math.max(this.posts.size, 1)];
  }

  set(id: string, list: readonly string[]): void {
    const post = this.posts.get(id);
    if (post) post.list = list;
  }

  deleteTag(id: string): void {
    this.tags.splice(this.tags.indexOf(id), 1);
    for (const post of this.posts.values()) post.list = post.list.filter((tag) => tag !== id);
  }
}

async function take(client: Client, admin: Client, model: Model, { kind, post: number, tags }: Step): Promise<void> {
  const ids = model.pickTags(tags);
  const post = model.pickPost(number);
  const path = `/api/v1/posts/${post}`;
  const patch = async (operation: unknown, list: (old: readonly string[]) => readonly string[]) => {
    if (post === undefined) return;
    await client.patch(path, { tags: operation });
    model.set(post, list(model.posts.get(post)?.list ?? []));
  };
  switch (kind) {
    case 'tag':
      model.tags.push((await client.create('tags', {})).id);
      return;
    case 'create': {
      const { headers, json } = await client.send('POST', '/api/v1/posts', { body: { tags: ids } });
      const first = String(headers.etag).slice(3, -1);
      model.posts.set(textAt(json, 'data.id'), { list: ids, first, firstList: ids });
      return;
    }
    case 'set':
      return patch(ids, () => ids);
    case 'append':
      return patch({ $append: ids }, (old) => [...new Set([...old, ...ids])]);
    case 'prepend':
      return patch({ $prepend: ids }, (old) => [...ids.filter((id) => !old.includes(id)), ...old]);
    case 'remove':
      return patch({ $remove: ids }, (old) => old.filter((id) => !ids.includes(id)));
    case 'restore': {
      const version = post === undefined ? undefined : model.posts.get(post);
      if (post === undefined || !version) return;
      const { status } = await admin.send('POST', `${path}/restore?version=${version.first}`);
      const isWhole = version.firstList.every((id) => model.tags.includes(id));
      assert.equal(status, isWhole ? 200 : 422);
      if (isWhole) model.set(post, version.firstList);
      return;
    }
    case 'deleteTag': {
      const [id] = ids;
      if (id === undefined) return;
      await client.delete(`/api/v1/tags/${id}`);
      model.deleteTag(id);
      return;
    }
    case 'deletePost':
      if (post === undefined) return;
      await client.delete(path);
      model.posts.delete(post);
  }
}

async function compare(client: Client, model: Model): Promise<void> {
  const all = listAt((await client.get('/api/v1/posts?perPage=1000&expand=tags')).json, 'data');
  const shown = new Map(all.map((post) => [textAt(post, 'id'), post]));
  assert.deepEqual([...shown.keys()].sort(), [...model.posts.keys()].sort());
  for (const [id, { list }] of model.posts) {
    assert.deepEqual(at(shown.get(id), 'tags'), list);
    assert.deepEqual(
      listAt(shown.get(id), 'expand.tags').map((tag) => tag.id),
      list,
    );
  }
  // Filters read the links instead of the lists.
  for (const tag of model.tags) {
    const { json } = await client.get(
      `/api/v1/posts?perPage=1000&fields=id&filter=${encodeURIComponent(`tags = "${tag}"`)}`,
    );
    const expected = [...model.posts].filter(([, { list }]) => list.includes(tag)).map(([id]) => id);
    assert.deepEqual(
      listAt(json, 'data')
        .map(({ id }) => id)
        .sort(),
      expected.sort(),
    );
  }
}

onEachTopology('lists and links agree after any writes [fields §3.9]', async (t, target) => {
  const admin = await target.admin();
  const define = (name: string, fields: object[]) =>
    admin.post('/api/v1/collections', { name, type: 'base', fields, history_enabled: true });
  await define('tags', []);
  await define('posts', [several('tags', 'tags')]);
  const model = new Model();
  const [sample = []] = fc.sample(steps, { numRuns: 1, seed });
  for (const kind of ['tag', 'tag', 'tag', 'create', 'create'] as const)
    await take(target.guest, admin, model, { kind, post: 0, tags: [0, 1] });
  await t.test(`150 random writes (FUZZ_SEED=${seed})`, async () => {
    for (const [index, step] of sample.entries()) {
      await take(target.guest, admin, model, step);
      if (index % 25 === 24) await compare(target.guest, model);
    }
    assert.ok(model.posts.size > 3 && model.tags.length > 3, 'the run leaves records');
  });
});
