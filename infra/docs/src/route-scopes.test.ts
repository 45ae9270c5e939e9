import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RouteManifest } from '@recordbus/http';
import { routeScopes } from '@recordbus/request/scope';
import { declaredRoutes } from './declared-routes.ts';

const nameOf = ({ method, paths }: RouteManifest): string => `${method} ${paths.at(-1)}`;

/** Returns the declared routes that fit, by name. */
const namesWhere = (fits: (route: RouteManifest) => boolean): string[] => declaredRoutes().filter(fits).map(nameOf);

/** Paths below which anyone may call without a token, and see what every caller sees. */
const open = /^\/(healthz|readyz|docs|_|api\/v1\/(health|openapi\.json|admin\/theme)|internal\/)/;

test('every route names its scope', () => {
  const known = new Set<string | undefined>(routeScopes);
  assert.deepEqual(
    namesWhere(({ scope }) => !known.has(scope)),
    [],
  );
});

test('only routes without secrets admit every key', () => {
  assert.deepEqual(
    namesWhere(({ scope, paths, access }) => scope === 'any' && (access !== 'public' || !open.test(paths[0] ?? ''))),
    [],
  );
});

test("a user's routes, and all ways to sign in, admit no key", () => {
  assert.deepEqual(
    namesWhere(({ scope, access, action }) => scope !== 'none' && (access === 'user' || action === 'auth')),
    [],
  );
});

test('a scope of records stands where the path names a collection', () => {
  const ofOne = /^records:/;
  assert.deepEqual(
    namesWhere(({ scope, paths }) => ofOne.test(scope) && !paths.every((path) => path.includes('/:collection'))),
    [],
  );
});

test('a scope that only reads is for GET, and a GET needs no other', () => {
  const reads = /:read$|^files$/;
  const both = new Set(['any', 'none', 'records', 'admin', 'rules:*']);
  assert.deepEqual(
    namesWhere(({ scope, method }) => !both.has(scope) && reads.test(scope) !== (method === 'GET')),
    ['POST /api/:collection/list', 'POST /api/files/token'],
    'a long list and a token are asked for by POST, and only read',
  );
});
