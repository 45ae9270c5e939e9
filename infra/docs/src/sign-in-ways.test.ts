import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { signInFlow } from '@recordbus/accounts';
import { signInPaths } from '@recordbus/auth';
import type { RouteManifest } from '@recordbus/http';
import { declaredRoutes } from './declared-routes.ts';

/** Routes that open a session for a user who has one already. */
const renewing = ['/api/v1/auth/:collection/change-password'];

/** Whether a JSON Schema has an object with both members. */
const hasMembers = (schema: unknown, names: readonly string[]): boolean => {
  if (typeof schema !== 'object' || schema === null) return false;
  const properties: unknown = Reflect.get(schema, 'properties');
  const isOne =
    typeof properties === 'object' && properties !== null && names.every((name) => Object.hasOwn(properties, name));
  return isOne || Object.values(schema).some((part) => hasMembers(part, names));
};

const opensSession = ({ paths, answers }: RouteManifest): boolean =>
  paths.some((path) => path.startsWith('/api/v1/auth/:collection/')) && hasMembers(answers, ['token', 'record']);

test('every route that opens a session is a way to sign in, with hooks and the rate limit of sign-ins', () => {
  const opening = declaredRoutes().filter((route) => opensSession(route) && !renewing.includes(route.paths[0] ?? ''));
  const found = opening.map(({ paths }) => paths[0]).sort();
  assert.deepEqual(
    found,
    Object.values(signInPaths).flat().sort(),
    'add the route to signInPaths in with-sign-in-hooks',
  );
  const unlimited = opening.filter(({ action }) => action !== 'auth').map(({ paths }) => paths[0]);
  assert.deepEqual(unlimited, []);
});

test('the reference names every way to sign in', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/reference/extensions.md'), 'utf8');
  const [, sentence = ''] = /`flow` is ([^.]+)\./.exec(page) ?? [];
  const named = [...sentence.matchAll(/`([a-z0-9_]+)`/g)].map(([, name]) => name);
  assert.deepEqual(named.sort(), [...signInFlow.options].sort());
});
