import { multipart } from '../harness/clients/multipart.ts';
import type { JsonObject } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { unknownId } from './blog.ts';
import { createTags } from './tagged-posts.ts';

type Members = Pick<Scenario, 'rawBody' | 'headers'>;

onEachTopology('a relation holds a list of records', async (t, target) => {
  const { admin, tags } = await createTags(target);
  const [a = '', b = '', c = '', hidden = ''] = tags.map(({ id }) => id);
  const post = await admin.create('posts', { title: 'one', tags: [b, a] });
  const strict = await admin.create('strict', { tags: [a] });
  const empty = { tags: [], two: [], safes: [], posts: [] };
  const spec = 'fields §3.9';
  const created = (name: string, body: object, data: JsonObject): Scenario => ({
    name,
    spec,
    request: 'POST /api/v1/posts',
    body,
    expect: { status: 201, json: { data: is.containing(data) } },
    events: ['posts.create'],
  });
  const inForm = (name: string, form: Members, data: JsonObject): Scenario => ({
    name,
    spec: 'files §3.2',
    request: 'POST /api/v1/posts',
    ...form,
    expect: { status: 201, json: { data: is.containing(data) } },
    events: ['posts.create'],
  });
  const changed = (name: string, body: object, data: JsonObject): Scenario => ({
    name,
    spec,
    request: `PATCH /api/v1/posts/${post.id}`,
    body,
    expect: { status: 200, json: { data: is.containing(data) } },
    events: ['posts.update'],
  });
  const refusal = (name: string, body: object, field = 'tags'): Scenario[] =>
    [`POST /api/v1/posts`, `PATCH /api/v1/posts/${post.id}`].map((request) => ({
      name: `${name}, in a ${request.split(' ')[0]}`,
      spec,
      request,
      body,
      expect: refused.invalid(field),
    }));
  const operates = (name: string, body: object, field = 'tags'): Scenario => ({
    name,
    spec: 'records §6.4',
    request: `PATCH /api/v1/posts/${post.id}`,
    body,
    expect: refused.invalid(field),
  });
  await runScenarios(t, target, [
    created('lists in their order', { tags: [c, a, b], two: [b, c] }, { ...empty, tags: [c, a, b], two: [b, c] }),
    created('no lists', {}, empty),
    created('null and an empty text', { tags: null, two: '' }, empty),
    created('a target that the caller may not view', { tags: [hidden] }, { tags: [hidden] }),
    inForm('a part for each id', multipart(...[b, a].map((content) => ({ name: 'tags', content }))), { tags: [b, a] }),
    inForm('a part with the list as JSON', multipart({ name: 'tags', content: JSON.stringify([c, b]) }), {
      tags: [c, b],
    }),
    inForm('a part with one id', multipart({ name: 'tags', content: c }), { tags: [c] }),
    changed('another list', { tags: [c, b] }, { title: 'one', tags: [c, b] }),
    changed('another order', { tags: [b, c] }, { tags: [b, c] }),
    changed('other fields', { title: 'two' }, { title: 'two', tags: [b, c] }),
    changed('the record itself', { posts: [post.id] }, { posts: [post.id] }),
    changed('null', { tags: null }, { tags: [] }),
    changed('a list again', { tags: [a] }, { tags: [a] }),
    changed('$prepend and $append', { tags: { $prepend: [c, a], $append: [b] } }, { tags: [c, a, b] }),
    changed('$remove, also of an id that is not there', { tags: { $remove: [a, unknownId] } }, { tags: [c, b] }),
    changed('$append up to max', { two: { $append: [a, b] } }, { two: [a, b] }),
    changed('$append of existing ids', { two: { $append: [b, a] } }, { two: [a, b] }),
    operates('$append beyond max', { two: { $append: [c] } }, 'two'),
    operates('$append of an id twice', { tags: { $append: [a, a] } }),
    operates('$append of a record that does not exist', { tags: { $append: [unknownId] } }),
    ...refusal('an id twice', { tags: [a, b, a] }),
    ...refusal('more than max', { two: [a, b, c] }, 'two'),
    ...refusal('one id', { tags: a }),
    ...refusal('an object', { tags: { id: a } }),
    ...refusal('an empty id', { tags: [''] }),
    ...refusal('a list in a list', { tags: [[a]] }),
    ...refusal('null in a list', { tags: [a, null] }),
    ...refusal('an id of 800 kB', { tags: ['x'.repeat(800_000)] }),
    ...refusal('a record that does not exist', { tags: [a, unknownId] }),
    ...refusal('a record of another collection', { tags: [post.id] }),
    {
      name: 'an empty required list',
      spec: 'fields §2.1',
      request: 'POST /api/v1/strict',
      body: { tags: [] },
      expect: refused.invalid('tags'),
    },
    {
      name: 'a required list that is missing',
      spec: 'fields §2.1',
      request: 'POST /api/v1/strict',
      body: {},
      expect: refused.invalid('tags'),
    },
    {
      name: 'a required list that becomes null',
      spec: 'fields §2.1',
      request: `PATCH /api/v1/strict/${strict.id}`,
      body: { tags: null },
      expect: refused.invalid('tags'),
    },
  ]);
});
