import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AppError } from '../errors.ts';
import type { Method } from './route.ts';
import { createRouter } from './router.ts';

const declare = (method: Method, ...paths: string[]) => ({ method, paths });

const list = declare('GET', '/api/:collection', '/api/v1/:collection');
const create = declare('POST', '/api/:collection', '/api/v1/:collection');
const remove = declare('DELETE', '/api/:collection/:id', '/api/v1/:collection/:id');
const health = declare('GET', '/api/v1/health');
const find = createRouter([list, create, remove, health]);

const refusal = (method: string, path: string): AppError => {
  try {
    find(method, path);
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  return assert.fail(`${method} ${path} was found`);
};

describe('router', () => {
  it('finds a route with its parameters', () => {
    assert.deepEqual(find('DELETE', '/api/posts/1'), { route: remove, params: { collection: 'posts', id: '1' } });
    assert.deepEqual(find('GET', '/api/v1/posts'), { route: list, params: { collection: 'posts' } });
    assert.equal(find('GET', '/api/v1/health').route, health);
  });

  it('serves HEAD by GET', () => assert.equal(find('HEAD', '/api/posts').route, list));

  it('does not know what nobody declared, nor what is not a path', () => {
    assert.equal(refusal('GET', '/nowhere').status, 404);
    assert.equal(refusal('GET', '/api/%E0%A4%A').status, 404);
  });

  it('decides by the path before the method', () => {
    assert.equal(refusal('DELETE', '/api/v1/posts').headers.Allow, 'GET, HEAD, POST');
    assert.equal(refusal('POST', '/api/v1/health').headers.Allow, 'GET, HEAD');
  });

  it('refuses two declarations of one route', () => {
    assert.throws(
      () => createRouter([declare('GET', '/a/:x'), declare('GET', '/a/:y')]),
      /GET \/a\/:y is declared twice/,
    );
  });
});
