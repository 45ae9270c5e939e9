import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRouter } from './router.ts';

const find = createRouter([
  { name: 'list', method: 'GET', paths: ['/api/:collection', '/api/v1/:collection'] },
  { name: 'create', method: 'POST', paths: ['/api/:collection', '/api/v1/:collection'] },
  { name: 'get', method: 'GET', paths: ['/api/:collection/:id', '/api/v1/:collection/:id'] },
  { name: 'delete', method: 'DELETE', paths: ['/api/:name/:key', '/api/v1/:name/:key'] },
  { name: 'collections', method: 'GET', paths: ['/api/v1/collections'] },
  { name: 'login', method: 'POST', paths: ['/api/v1/admin/login'] },
] as const);

test("a path and a method find their route, and parameters by that route's names", () => {
  assert.deepEqual(find('GET', '/api/v1/posts/p1'), {
    route: { name: 'get', method: 'GET', paths: ['/api/:collection/:id', '/api/v1/:collection/:id'] },
    params: { collection: 'posts', id: 'p1' },
  });
  assert.deepEqual(find('DELETE', '/api/posts/p1').params, { name: 'posts', key: 'p1' });
  assert.deepEqual(find('GET', '/api/posts/a%2Fb%20c').params, { collection: 'posts', id: 'a/b c' });
});

test('GET serves HEAD, and a trailing slash makes no difference', () => {
  assert.equal(find('HEAD', '/api/posts').route.name, 'list');
  assert.equal(find('GET', '/api/posts/').route.name, 'list');
});

test('a static path takes precedence over a parameter, for every method', () => {
  assert.equal(find('GET', '/api/v1/collections').route.name, 'collections');
  for (const method of ['POST', 'PATCH', 'TRACE'])
    assert.throws(() => find(method, '/api/v1/collections'), { status: 405, headers: { Allow: 'GET, HEAD' } });
  assert.throws(() => find('GET', '/api/v1/admin/login'), { status: 405, headers: { Allow: 'POST' } });
  assert.equal(find('GET', '/api/v1/admin/other').route.name, 'get');
});

test('a PUT to a static path below a parameter belongs to the parameter in its place', () => {
  const put = { method: 'PUT', paths: ['/api/:collection/:id'], name: 'put' } as const;
  const list = { method: 'GET', paths: ['/api/:collection/search'], name: 'search' } as const;
  const findAny = createRouter([put, list]);
  const { route, params } = findAny('PUT', '/api/posts/search');
  assert.deepEqual([route.name, params.collection, params.id], ['put', 'posts', 'search']);
  assert.throws(() => createRouter([put, { method: 'GET', paths: ['/api/a/b'] }])('PUT', '/api/a/b'), { status: 405 });
  assert.equal(findAny('GET', '/api/posts/search').route.name, 'search');
  assert.throws(() => findAny('DELETE', '/api/posts/search'), { status: 405, headers: { Allow: 'GET, HEAD' } });
});

test('an unknown path is 404, and one that cannot be decoded is 400', () => {
  for (const path of ['/', '/api', '/api/a/b/c/d', '*', '//api/posts'])
    assert.throws(() => find('GET', path), { status: 404 }, path);
  for (const path of ['/api/%', '/api/%zz', '/api/posts/%E0%A4%A', '/%ff'])
    assert.throws(() => find('GET', path), { status: 400, code: 'malformed_request' }, path);
});

test('a path with an impossible parameter value is 404, for every method', () => {
  const routes = [{ method: 'GET', paths: ['/api/:collection/:id'] }] as const;
  const findAny = createRouter(routes, (shape, { 0: first }) => shape.startsWith('/api/:0') && first === 'admin');
  assert.equal(findAny('GET', '/api/posts/1').params.collection, 'posts');
  for (const method of ['GET', 'POST']) assert.throws(() => findAny(method, '/api/%61dmin/1'), { status: 404 });
});

test('a parameter is never empty', () => {
  for (const path of ['/api//', '/api/posts//', '/api//p1'])
    for (const method of ['GET', 'PUT']) assert.throws(() => find(method, path), { status: 404 }, path);
});

test('a route declared twice is an error at start', () => {
  const routes = [
    { method: 'GET', paths: ['/api/:collection'] },
    { method: 'GET', paths: ['/api/:name'] },
  ] as const;
  assert.throws(() => createRouter(routes), /GET \/api\/:name is declared twice/);
});
