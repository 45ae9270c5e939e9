import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authorizeKey, isAdmin, readScope, rightsOf, writeScope } from './key-rights.ts';
import { fixedScopes, type RouteScope, routeScopes } from './scope.ts';

test('scopes are read and written [keys §3.1]', () => {
  const good = [
    ...fixedScopes,
    'records:posts:read',
    'records:*:write',
    'records:a_1:delete',
    'rules:posts',
    'rules:*',
  ];
  for (const text of good) {
    const scope = readScope(text);
    assert.ok(scope, text);
    assert.equal(writeScope(scope), text);
  }
  const bad = [
    '',
    'root',
    'records',
    'records:a',
    'records::read',
    'records:a:READ',
    'records:a:read:b',
    'rules:',
    'rules:a:b',
  ];
  for (const text of [
    ...bad,
    'records:*',
    `rules:${'a'.repeat(300)}`,
    'records:a b:read',
    ' admin',
    'admin ',
    'any',
    'none',
  ])
    assert.equal(readScope(text), undefined, text);
});

test('writing and applying include reading, deleting does not [keys §3.1]', () => {
  const rights = rightsOf(['records:a:write', 'records:b:delete', 'collections:apply', 'webhooks:write']);
  assert.equal(rights.recordRight('a', 'read'), 'pass');
  assert.equal(rights.recordRight('a', 'write'), 'pass');
  assert.equal(rights.recordRight('a', 'delete'), 'none');
  assert.equal(rights.recordRight('b', 'read'), 'none');
  assert.equal(rights.recordRight('b', 'delete'), 'pass');
  assert.ok(rights.has('collections:read') && rights.has('webhooks:read'));
  assert.ok(!rights.has('settings:read') && !rights.has('admin') && !rights.has('files'));
});

test('a key passes rules where its scopes allow it, and is subject to them elsewhere [keys §5.5]', () => {
  const rights = rightsOf(['rules:*', 'records:a:read']);
  assert.equal(rights.recordRight('a', 'read'), 'pass');
  assert.equal(rights.recordRight('a', 'write'), 'rules');
  assert.equal(rights.recordRight('b', 'delete'), 'rules');
  assert.equal(rightsOf(['records:*:read']).recordRight('whatever', 'read'), 'pass');
});

test('the scope admin includes all others, and no other includes it [keys §3.1]', () => {
  const service = (scopes: readonly string[]) => ({ type: 'service', id: 'k', scopes }) as const;
  assert.ok(isAdmin(service(['admin'])));
  const others = [...fixedScopes.filter((scope) => scope !== 'admin'), 'records:*:read', 'records:*:write', 'rules:*'];
  assert.ok(!isAdmin(service(others)));
  for (const scope of fixedScopes) assert.ok(rightsOf(['admin']).has(scope), scope);
});

test('each scope that a route names admits the keys that have it, and no others [keys §4.1]', () => {
  const admits = (scope: RouteScope, scopes: readonly string[], access = 'admin'): boolean => {
    try {
      authorizeKey({ scope, access }, scopes, 'a');
      return true;
    } catch {
      return false;
    }
  };
  for (const scope of routeScopes) {
    assert.equal(admits(scope, ['admin']), scope !== 'none', scope);
    assert.equal(admits(scope, []), scope === 'any', scope);
  }
  assert.ok(admits('records:read', ['records:a:write']));
  assert.ok(!admits('records:read', ['records:b:write', 'rules:b']));
  assert.ok(admits('records:write', ['rules:a'], 'public'));
  assert.ok(!admits('records:write', ['rules:a'], 'admin'), 'on a route for admins, no rule decides');
  assert.ok(admits('records', ['rules:b']) && !admits('records', ['files']));
  assert.ok(admits('rules:*', ['rules:*']) && !admits('rules:*', ['rules:a', 'records:*:write']));
});

test('a collection named like a scope gives no other right', () => {
  const rights = rightsOf(['records:admin:read', 'rules:files']);
  assert.ok(!rights.isAdmin && !rights.has('files') && !rights.has('admin'));
  assert.equal(rights.recordRight('*', 'read'), 'none');
});
