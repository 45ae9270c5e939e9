import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { several } from './tagged-posts.ts';

const spec = 'records §7.1';

onEachTopology('a delete follows relation lists', async (t, target) => {
  const { guest } = target;
  const admin = await target.admin();
  const define = (name: string, fields: object[]) =>
    admin.post('/api/v1/collections', { name, type: 'base', fields, history_enabled: true });
  await define('tags', []);
  await define('posts', [
    several('tags', 'tags', {}, { required: true }),
    several('more', 'tags'),
    { name: 'main', type: 'relation', collection: 'tags' },
  ]);
  await define('tied', [several('tags', 'tags', { cascade: 'cascade' }), several('posts', 'posts')]);
  await define('guards', [several('tags', 'tags', { cascade: 'restrict' })]);
  await define('rings', [several('next', 'rings', { cascade: 'cascade' })]);
  const tag = async () => (await guest.create('tags', {})).id;
  const [a, b, c] = [await tag(), await tag(), await tag()];

  const all = await guest.create('posts', { tags: [a, b, c], more: [c, a], main: a });
  const only = await guest.create('posts', { tags: [a] });
  const other = await guest.create('posts', { tags: [c] });

  const [felled, kept] = [await tag(), await tag()];
  const tied = await guest.create('tied', { tags: [kept, felled], posts: [other.id] });
  const beside = await guest.create('tied', { tags: [kept] });

  const [guarded, free] = [await tag(), await tag()];
  const guard = await guest.create('guards', { tags: [free, guarded] });

  const first = await guest.create('rings', {});
  const second = await guest.create('rings', { next: [first.id] });
  const third = await guest.create('rings', { next: [second.id, first.id] });
  await guest.patch(`/api/v1/rings/${first.id}`, { next: [first.id, third.id] });

  const deletes = (name: string, path: string, events: string[]): Scenario => ({
    name,
    request: `DELETE /api/v1/${path}`,
    expect: { status: 200, json: { data: null } },
    events,
    spec,
  });
  const shows = (name: string, path: string, data: object): Scenario => ({
    name,
    request: `GET /api/v1/${path}`,
    expect: { status: 200, json: { data } },
    spec,
  });
  const gone = (path: string): Scenario => ({
    name: 'the record that was deleted too',
    request: `GET /api/v1/${path}`,
    expect: refused.notFound,
    spec,
  });
  const version = is.number;
  await runScenarios(t, target, [
    deletes('a target of lists', `tags/${a}`, ['tags.delete', 'posts.update', 'posts.update']),
    shows('a record with several references, cleared in one write', `posts/${all.id}`, {
      ...all,
      tags: [b, c],
      more: [c],
      main: null,
      updated: version,
    }),
    shows('a required list, which is empty now', `posts/${only.id}`, { ...only, tags: [], updated: version }),
    shows('a record without the target', `posts/${other.id}`, other),
    {
      name: 'the history of the cleared record',
      request: `GET /api/v1/posts/${all.id}/history`,
      expect: {
        status: 200,
        json: {
          data: is.containing({
            data: [
              is.containing({ op: 'update', snapshot: is.containing({ tags: [b, c], more: [c], main: null }) }),
              is.containing({ op: 'create', snapshot: is.containing({ tags: [a, b, c], more: [c, a], main: a }) }),
            ],
          }),
        },
      },
      spec: 'records §7.3',
    },
    deletes('a target of a cascade', `tags/${felled}`, ['tags.delete', 'tied.delete']),
    gone(`tied/${tied.id}`),
    shows('a record with another list', `tied/${beside.id}`, beside),
    deletes('a record with lists', `tied/${beside.id}`, ['tied.delete']),
    {
      name: 'a target that restrict keeps',
      request: `DELETE /api/v1/tags/${guarded}`,
      expect: {
        status: 409,
        json: {
          error: is.text,
          code: 'delete_restricted',
          details: { blockers: [{ collection: 'guards', id: guard.id, field: 'tags' }], total: 1 },
        },
      },
      spec: 'records §7.5',
    },
    {
      name: 'the list without it',
      request: `PATCH /api/v1/guards/${guard.id}`,
      body: { tags: [free] },
      expect: { status: 200 },
      events: ['guards.update'],
      spec,
    },
    deletes('a target that no list restricts any more', `tags/${guarded}`, ['tags.delete']),
    deletes('a circle of lists', `rings/${second.id}`, ['rings.delete', 'rings.delete', 'rings.delete']),
    ...[first, third].map(({ id }) => gone(`rings/${id}`)),
    {
      name: 'a version whose target is gone',
      as: 'admin',
      request: `POST /api/v1/posts/${only.id}/restore?at=${only.updated}`,
      expect: refused.invalid('tags'),
      spec: 'history §5.3',
    },
  ]);
});

onEachTopology('a list is restored from the history', async (t, target) => {
  const { guest } = target;
  const admin = await target.admin();
  const define = (name: string, fields: object[]) =>
    admin.post('/api/v1/collections', { name, type: 'base', fields, history_enabled: true });
  await define('words', []);
  await define('texts', [several('words', 'words')]);
  const [a, b] = [(await guest.create('words', {})).id, (await guest.create('words', {})).id];
  const text = await guest.create('texts', { words: [b, a] });
  const path = `/api/v1/texts/${text.id}`;
  const versions: string[] = [];
  const versionOf = async () => String((await guest.get(path)).headers.etag).slice(3, -1);
  versions.push(await versionOf());
  await guest.patch(path, { words: [a] });
  const restored = (words: string[]) => ({ status: 200, json: { data: is.containing({ words }) } });
  const deletedBefore = await guest.create('texts', { words: [a] });
  await guest.delete(`/api/v1/texts/${deletedBefore.id}`);
  await runScenarios(t, target, [
    {
      name: 'an earlier list',
      as: 'admin',
      request: `POST ${path}/restore?version=${versions[0]}`,
      expect: restored([b, a]),
      events: ['texts.update'],
      spec: 'history §5.1',
    },
    {
      name: 'a deleted record with its list',
      as: 'admin',
      request: `POST /api/v1/texts/${deletedBefore.id}/restore?at=9999999999&deleted=1`,
      expect: { ...restored([a]), status: 201 },
      events: ['texts.create'],
      spec: 'history §6.1',
    },
    {
      name: 'a target of both',
      request: `DELETE /api/v1/words/${a}`,
      expect: { status: 200 },
      events: ['words.delete', 'texts.update', 'texts.update'],
      spec,
    },
    { name: 'the list without it', request: `GET ${path}`, expect: restored([b]), spec },
    {
      name: 'an earlier list with a target that is gone',
      as: 'admin',
      request: `POST ${path}/restore?version=${versions[0]}`,
      expect: refused.invalid('words'),
      spec: 'history §5.3',
    },
  ]);
});
