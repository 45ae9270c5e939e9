import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { isCollectionName, reservedCollectionNames } from '@recordbus/schema';
import { declaredRoutes } from './declared-routes.ts';

/** The names that later routes will need (collections §1.3). */
const keptFree = ['erase', 'mail', 'mcp', 'organisations', 'pb', 'scim', 'search', 'uploads', 'webhooks'];

/** The segments that follow one of the three beginnings of a collection's paths (records §1.1), in lower case. */
const routedNames = (): string[] => {
  const segments = declaredRoutes()
    .flatMap(({ paths }) => paths)
    .flatMap((path) => ['/api/', '/api/v1/', '/api/v1/records/'].map((prefix) => segmentAfter(prefix, path)));
  return [...new Set(segments.map((segment) => segment.toLowerCase()))].filter(isCollectionName).sort();
};

const segmentAfter = (prefix: string, path: string): string =>
  path.startsWith(prefix) ? (path.slice(prefix.length).split('/')[0] ?? '') : '';

/** Extension routes are declared at runtime, below `x`. `settings` was a route once, and stays reserved. */
const undeclared = ['settings', 'x'];

test('the reserved names are those that routes hide, and those kept free [collections §1.3]', () => {
  const names = routedNames();
  assert.ok(names.includes('jobs') && names.includes('records'), names.join());
  assert.deepEqual([...reservedCollectionNames].sort(), [...new Set([...names, ...keptFree, ...undeclared])].sort());
});

test('the reference lists every reserved name [collections §1.3]', async () => {
  const text = await readFile(new URL('../../../docs/reference/collections.md', import.meta.url), 'utf8');
  const section = text.slice(text.indexOf('### 1.3'), text.indexOf('### 1.4'));
  const listed = [...section.matchAll(/^- `([a-z0-9 ]+)`/gm)].flatMap(([, names = '']) => names.split(' '));
  assert.deepEqual(listed.sort(), [...reservedCollectionNames].sort());
});
