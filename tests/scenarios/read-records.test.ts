import assert from 'node:assert/strict';
import { numberAt, objectAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
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
      name: 'an id that is too long',
      request: `GET /api/v1/posts/${'a'.repeat(300)}`,
      expect: refused.notFound,
      spec: 'records §1.4',
    },
    {
      name: 'SQL in the id',
      request: "GET /api/v1/posts/'%20or%201=1",
      expect: refused.notFound,
      spec: 'records §1.4',
    },
    {
      name: 'the members that fields names, and the id',
      request: `GET ${path}?fields=title,%20created,absent`,
      expect: { status: 200, json: { data: { id: post.id, title: 'First', created: is.now } } },
      spec: 'records §11.1',
    },
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
      { name: 'rank', type: 'number' },
    ],
  });
  await admin.post('/api/v1/collections', { name: 'nothing', type: 'base', fields: [] });
  // Most are created within one second, where only the id gives their order.
  const oldest = await target.guest.create('items', { place: 1, size: 1, rank: 3 });
  let newest = oldest;
  const ranks = [null, 1.5, 1.5, null];
  for (const [index, rank] of ranks.entries())
    newest = await target.guest.create('items', { place: index + 2, size: 1, rank });
  // The oldest record is updated last, so that it is at the table's end. The loop ends in a later second.
  for (let updated = 0; updated <= newest.updated; )
    updated = numberAt(await admin.patch(`/api/v1/items/${oldest.id}`, { size: 1 }), 'updated');
  const item = (place: number) => ({
    id: is.uuidV7,
    place,
    size: 1,
    rank: [3, ...ranks][place - 1],
    created: is.now,
    updated: is.now,
  });
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
    lists('a negative perPage, which is 30', '?perPage=-3', { ...items(5, 4, 3, 2, 1), ...whole }, 'http §3.3'),
    lists(`a page of 400 digits`, `?perPage=5&page=${'9'.repeat(400)}`, is.containing({ data: [] }), 'http §3.3'),
    lists(
      'empty parameters, which are as absent',
      '?page=&perPage=&sort=&fields=&filter=&expand=&skipTotal=',
      { ...items(5, 4, 3, 2, 1), ...whole },
      'http §3.3',
    ),
    lists('an unknown parameter', '?colour=red', { ...items(5, 4, 3, 2, 1), ...whole }, 'http §3.3'),
    lists(
      'the members that fields names, and the id',
      '?fields=place&perPage=1&skipTotal=1',
      { data: [{ id: is.uuidV7, place: 5 }], page: 1, perPage: 1, totalItems: -1, totalPages: -1 },
      'records §11.1',
    ),
    ...Object.entries({
      rank: [3, 4, 1, 2, 5],
      '-rank': [5, 2, 1, 4, 3],
      'rank,-place': [4, 3, 1, 5, 2],
      '-rank,place': [2, 5, 1, 3, 4],
      'created_at,id': [1, 2, 3, 4, 5],
      '-id': [5, 4, 3, 2, 1],
    }).map(([sort, order]) =>
      lists(
        `sort=${sort}, with nulls as the largest`,
        `?sort=${sort}`,
        { ...items(...order), ...whole },
        'records §3.2',
      ),
    ),
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
    malformed('a sort without a field', '?sort=-'),
    malformed('a sort over a field that is not a relation', '?sort=size.name'),
    malformed('a perPage with an exponent', '?perPage=1e3'),
    malformed('a filter on an unknown field', '?filter=nope%3D1'),
    malformed('an expand of an unknown relation', '?expand=x'),
    malformed('an expand of a field that is not a relation', '?expand=size'),
    malformed('an expand without a name', '?expand=,'),
    malformed('a vector without its field', '?nearVector=[1]'),
    { name: 'an unknown collection', request: 'GET /api/v1/nowhere', expect: refused.notFound, spec: 'records §1.4' },
  ]);
});

onEachTopology('fields have any name, and are as many as they like', async (t, target) => {
  const { guest } = target;
  const admin = await target.admin();
  // Names that a statement may use for itself, and more fields than a PostgreSQL function has arguments.
  const likeAliases = ['r', 't', 's', 'n', 'o', 'p', 'e', 'c', 'old', 'new', 'shown', 'record', 'Order', 'user'];
  const names = [...likeAliases, ...Array.from({ length: 60 }, (_, index) => `f${index}`)];
  const fields = names.map((name) => ({ name, type: 'text' }));
  await admin.post('/api/v1/collections', { name: 'wide', type: 'base', fields });

  await t.test('they are written, read and sorted by [fields §1.1]', async () => {
    const body = { r: 'R', t: 'T', s: 'S', old: 'O', Order: 'U', f59: 'last' };
    const { id } = await guest.create('wide', body);
    const path = `/api/v1/wide/${id}`;
    const patched = await guest.send('PATCH', path, { body: { n: 'N', record: 'X' } });
    const list = await guest.get('/api/v1/wide?sort=r,-Order');
    for (const record of [
      objectAt(patched.json, 'data'),
      objectAt(list.json, 'data.0'),
      objectAt((await guest.get(path)).json, 'data'),
    ]) {
      assert.equal(Object.keys(record).length, names.length + 3);
      const { r, t, s, n, old, Order, f59, record: own } = record;
      assert.deepEqual({ r, t, s, n, old, Order, f59, own }, { ...body, n: 'N', own: 'X' });
    }
    assert.equal((await guest.send('DELETE', path)).status, 200);
  });
});
