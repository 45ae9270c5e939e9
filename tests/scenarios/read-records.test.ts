import { numberAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/scenario.ts';
import { onEachTopology } from '../harness/target.ts';
import { createBlog, pathsOf, postJson, unknownId } from './blog.ts';

onEachTopology('one record is read', async (t, target) => {
  const { author, post } = await createBlog(target);
  const etag = `W/"${post.updated}"`;
  const first = { data: postJson({ id: post.id, title: 'First', author: author.id }) };
  const path = `/api/v1/posts/${post.id}`;
  const matching = (name: string, ifNoneMatch: string, status: 200 | 304): Scenario => ({
    name,
    request: `GET ${path}`,
    headers: { 'If-None-Match': ifNoneMatch },
    expect: { status, json: status === 304 ? undefined : first, headers: { etag } },
    spec: 'records §9.3',
  });
  await runScenarios(t, target, [
    ...pathsOf('posts').map(
      (collection): Scenario => ({
        name: `GET ${collection}/:id`,
        request: `GET ${collection}/${post.id}`,
        expect: { status: 200, json: first, headers: { etag, 'content-type': is.matching(/^application\/json/) } },
        spec: 'records §1.1',
      }),
    ),
    {
      name: 'HEAD, with the headers alone',
      request: `HEAD ${path}`,
      expect: { status: 200, json: undefined, headers: { etag, 'content-length': is.matching(/^[1-9]\d*$/) } },
      spec: 'http §1.3',
    },
    matching('the current ETag', etag, 304),
    matching('the strong form of that ETag', `"${post.updated}"`, 304),
    matching('that ETag among others', `W/"1", ${etag}`, 304),
    matching('any ETag', '*', 304),
    matching('another ETag', 'W/"1"', 200),
    {
      name: 'a record that does not exist',
      request: `GET /api/v1/posts/${unknownId}`,
      expect: refused.notFound,
      spec: 'records §1.4',
    },
    { name: 'an invalid id', request: 'GET /api/v1/posts/1', expect: refused.notFound, spec: 'records §1.4' },
    { name: 'an id with a NUL', request: 'GET /api/v1/posts/%00', expect: refused.notFound, spec: 'records §1.4' },
    {
      name: 'a record of another collection',
      request: `GET /api/v1/authors/${post.id}`,
      expect: refused.notFound,
      spec: 'records §1.4',
    },
    {
      name: 'an unknown collection',
      request: `GET /api/v1/nowhere/${post.id}`,
      expect: refused.notFound,
      spec: 'records §1.4',
    },
    {
      name: 'a path that cannot be decoded',
      request: 'GET /api/v1/posts/%E0%A4%A',
      expect: refused.malformed,
      spec: 'http §1.4',
    },
  ]);
});

onEachTopology('records are listed', async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', {
    name: 'items',
    type: 'base',
    fields: [
      { name: 'place', type: 'number' },
      { name: 'size', type: 'number' },
    ],
  });
  await admin.post('/api/v1/collections', { name: 'nothing', type: 'base', fields: [] });
  // Most of them are created within one second, where only the id gives their order.
  const oldest = await target.guest.create('items', { place: 1, size: 1 });
  let newest = oldest;
  for (const place of [2, 3, 4, 5]) newest = await target.guest.create('items', { place, size: 1 });
  // The oldest record is updated last, so that it is at the end of the table. The loop ends in a later second.
  for (let updated = 0; updated <= newest.updated; )
    updated = numberAt(await admin.patch(`/api/v1/items/${oldest.id}`, { size: 1 }), 'updated');
  const item = (place: number) => ({ id: is.uuidV7, place, size: 1, created: is.now, updated: is.now });
  const items = (...places: readonly number[]) => ({ data: places.map(item) });
  const whole = { page: 1, perPage: 30, totalItems: 5, totalPages: 1 };
  const lists = (name: string, query: string, json: object, spec = 'records §3.1'): Scenario => ({
    name,
    request: `GET /api/v1/items${query}`,
    expect: { status: 200, json },
    spec,
  });
  const malformed = (name: string, query: string): Scenario => ({
    name,
    request: `GET /api/v1/items${query}`,
    expect: { status: 400, json: is.containing({ error: is.text, code: is.code }) },
    spec: 'records §3.5',
  });
  await runScenarios(t, target, [
    ...pathsOf('items').map(
      (path): Scenario => ({
        name: `GET ${path}, newest first`,
        request: `GET ${path}`,
        expect: { status: 200, json: { ...items(5, 4, 3, 2, 1), ...whole } },
        spec: 'records §3.2',
      }),
    ),
    lists('the first page of two', '?page=1&perPage=2', {
      ...items(5, 4),
      page: 1,
      perPage: 2,
      totalItems: 5,
      totalPages: 3,
    }),
    lists('the last page', '?page=3&perPage=2', { ...items(1), page: 3, perPage: 2, totalItems: 5, totalPages: 3 }),
    lists(
      'a page past the end',
      '?page=4&perPage=2',
      { data: [], page: 4, perPage: 2, totalItems: 5, totalPages: 3 },
      'http §3.3',
    ),
    lists('a huge page', '?page=9007199254740991&perPage=1000', is.containing({ data: [] }), 'http §3.3'),
    lists('page 0, which is page 1', '?page=0', { ...items(5, 4, 3, 2, 1), ...whole }, 'http §3.3'),
    lists('a negative page, which is page 1', '?page=-3', { ...items(5, 4, 3, 2, 1), ...whole }, 'http §3.3'),
    lists('perPage 0, which is 30', '?perPage=0', { ...items(5, 4, 3, 2, 1), ...whole }, 'http §3.3'),
    lists(
      'a perPage above 1000, which is 1000',
      '?perPage=5000',
      { ...items(5, 4, 3, 2, 1), ...whole, perPage: 1000 },
      'http §3.3',
    ),
    ...['1', 'true'].map((value) =>
      lists(`skipTotal=${value}, without a total`, `?perPage=2&skipTotal=${value}`, {
        ...items(5, 4),
        page: 1,
        perPage: 2,
        totalItems: -1,
        totalPages: -1,
      }),
    ),
    lists('skipTotal=false, with a total', '?skipTotal=false', { ...items(5, 4, 3, 2, 1), ...whole }),
    lists('sort=created', '?sort=created', { ...items(1, 2, 3, 4, 5), ...whole }),
    lists('sort=updated', '?sort=updated', { ...items(2, 3, 4, 5, 1), ...whole }),
    lists('equal values, in the order of id', '?sort=size', { ...items(1, 2, 3, 4, 5), ...whole }, 'records §3.2'),
    lists('sort=-created', '?sort=-created', { ...items(5, 4, 3, 2, 1), ...whole }),
    {
      name: 'an empty collection',
      request: 'GET /api/v1/nothing',
      expect: { status: 200, json: { data: [], page: 1, perPage: 30, totalItems: 0, totalPages: 0 } },
      spec: 'http §3.2',
    },
    malformed('a page that is not a number', '?page=two'),
    malformed('a page that is not a whole number', '?page=1.5'),
    malformed('a perPage that is not a number', '?perPage=many'),
    malformed('a skipTotal that is neither true nor false', '?skipTotal=maybe'),
    malformed('a sort on an unknown field', '?sort=colour'),
    malformed('a sort that does not parse', '?sort=--created'),
    { name: 'an unknown collection', request: 'GET /api/v1/nowhere', expect: refused.notFound, spec: 'records §1.4' },
  ]);
});
