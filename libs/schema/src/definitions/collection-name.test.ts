import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findCollectionNameProblem } from './collection-name.ts';

test('a name has at most 63 letters, digits and underscores, and begins with a letter', () => {
  for (const name of ['a', 'Posts', 'a_1', 'x1', `a${'b'.repeat(62)}`])
    assert.equal(findCollectionNameProblem(name), undefined, name);
  for (const name of ['', '1a', '_a', 'a-b', 'a b', 'ä', 'a"b', 'a.b', 'a\n', `a${'b'.repeat(63)}`])
    assert.match(findCollectionNameProblem(name) ?? '', /^must begin with a letter/, name);
});

test('reserved names are refused in any case [collections §1.3]', () => {
  for (const name of ['admin', 'jobs', 'search', 'Admin', 'X', 'wEbHooks'])
    assert.equal(findCollectionNameProblem(name), `"${name}" is reserved`);
});
