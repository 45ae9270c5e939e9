import assert from 'node:assert/strict';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { createBlog, fullPost, pathsOf, postJson, unknownId } from './blog.ts';

const created = (json: object) => ({ status: 201, json: { data: json } });

onEachTopology('records are created', async (t, target) => {
  const { author, post } = await createBlog(target);
  const request = 'POST /api/v1/posts';
  const takes = (name: string, written: object, shown: object = written, spec = 'fields §3'): Scenario => ({
    name,
    request,
    body: { title: 'Hello', ...written },
    expect: created(postJson({ title: 'Hello', ...shown })),
    events: ['posts.create'],
    spec,
  });
  await runScenarios(t, target, [
    ...pathsOf('posts').map(
      (path, index): Scenario => ({
        name: `POST ${path} with every type of field`,
        request: `POST ${path}`,
        body: { ...fullPost(author.id), slug: `hello-${index}` },
        expect: created(postJson({ ...fullPost(author.id), slug: `hello-${index}` })),
        events: ['posts.create'],
        spec: 'records §1.1',
      }),
    ),
    {
      name: 'a record with its ETag',
      request,
      body: { title: 'Hello' },
      expect: { ...created(postJson({ title: 'Hello' })), headers: { etag: is.matching(/^W\/"\d+"$/) } },
      events: ['posts.create'],
      spec: 'records §8.1',
    },
    takes(
      'a date as text, which is shown in seconds',
      { published: '2023-11-14T22:13:20Z' },
      { published: 1_700_000_000 },
    ),
    takes('an empty text for a text field', { slug: '' }),
    takes(
      'an empty text for any other type, which is null',
      { stars: '', live: '', published: '', kind: '', author: '' },
      {},
      'fields §2.2',
    ),
    takes('null for every type', { slug: null, stars: null, live: null, tags: null, meta: null, author: null }, {}),
    takes('false and 0', { live: false, stars: 0 }),
    takes('a list as JSON', { meta: [1, 'two', null] }),
    takes('a text whose length is measured in characters, not bytes', { title: `A${'🙂'.repeat(19)}` }),
    takes(
      'a record as it was read, with members that the server sets',
      { id: unknownId, created: 5, updated: 5, expand: {}, anonymous: true, created_at: 5, updated_at: 5, _score: 1 },
      {},
      'records §5.2',
    ),
    takes('quotes, markup and SQL in a text', { slug: `"><script>'; drop table x; --\\` }),
    ...['ünï — 😀', 'a\nb\tc', '\\u0041 \\', '$1 %s'].map((slug) =>
      takes(`the text ${JSON.stringify(slug)}, unchanged`, { slug }),
    ),
    takes('a unique field without a value, as other records', { slug: null }),
    {
      name: 'an unknown collection',
      request: 'POST /api/v1/nowhere',
      body: {},
      expect: refused.notFound,
      spec: 'records §1.4',
    },
    {
      name: 'a collection name in another case',
      request: 'POST /api/v1/Posts',
      body: { title: 'Hello' },
      expect: refused.notFound,
      spec: 'records §1.1',
    },
    {
      name: 'a taken unique value',
      request,
      body: { title: 'Hello', slug: 'hello-0' },
      expect: refused.because({ slug: 'is already taken' }),
      spec: 'fields §2.6',
    },
    {
      name: 'a relation to an unknown record',
      request,
      body: { title: 'Hello', author: unknownId },
      expect: refused.because({ author: 'refers to no record' }),
      spec: 'fields §3.9',
    },
    {
      name: 'a relation to a record of another collection',
      request,
      body: { title: 'Hello', author: post.id },
      expect: refused.invalid('author'),
      spec: 'fields §3.9',
    },
    {
      name: 'an empty body without a required field',
      request,
      body: {},
      expect: refused.invalid('title'),
      spec: 'fields §2.1',
    },
    { name: 'no body', request, expect: refused.invalid('title'), spec: 'fields §2.1' },
  ]);

  await t.test('when 50 create at once, one takes a unique value [fields §2.6]', async () => {
    const body = { title: 'Race', slug: 'race' };
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => target.guest.send('POST', '/api/v1/posts', { body })),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, ...Array(49).fill(422)]);
  });
});

onEachTopology('values that do not fit their field are refused by name', async (t, target) => {
  await createBlog(target);
  const wrong: Record<string, Record<string, unknown>> = {
    'an unknown field': { colour: 'red' },
    'several unknown fields': { colour: 'red', size: 'xl' },
    'a number for text': { title: 5 },
    'null for a required field': { title: null },
    'an empty text for a required field': { title: '' },
    'a text that is too short': { title: 'A' },
    'a text that is too long': { title: 'A'.repeat(21) },
    'a text that does not match its pattern': { title: 'hello' },
    'a text for a number': { stars: '5' },
    'a number below min': { stars: -1 },
    'a number above max': { stars: 5.1 },
    'a number for a bool': { live: 1 },
    'a text that is not a date': { published: 'tomorrow' },
    'a bool for a date': { published: true },
    'a value that is not an option of the select': { kind: 'poem' },
    'a list for a single select': { kind: ['news'] },
    'one value for a multiple select': { tags: 'a' },
    'a list with a value that is not an option of the select': { tags: ['a', 'z'] },
    'a number for a relation': { author: 5 },
    'a list for a relation': { author: ['x'] },
    'a NUL in a text': { slug: 'a\u0000b' },
    'a NUL within JSON': { meta: { deep: ['a\u0000b'] } },
    'two wrong fields at once': { stars: 'many', live: 'yes' },
    'names that every JavaScript object has': { constructor: 'x', toString: 'y' },
  };
  await runScenarios(t, target, [
    ...Object.entries(wrong).map(
      ([name, fields]): Scenario => ({
        name,
        request: 'POST /api/v1/posts',
        body: { title: 'Hello', ...fields },
        expect: refused.invalid(...Object.keys(fields)),
        spec: 'fields §3, records §5.3',
      }),
    ),
    {
      name: 'a prototype in the body',
      request: 'POST /api/v1/posts',
      rawBody: '{"title": "Hello", "__proto__": {"live": true}}',
      headers: { 'Content-Type': 'application/json' },
      expect: refused.naming('__proto__'),
      spec: 'records §5.3',
    },
  ]);
});
