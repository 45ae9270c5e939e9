import assert from 'node:assert/strict';
import { test } from 'node:test';
import { typesDocument } from './types-document.ts';

const api = (paths: object) => ({ paths });
const shipping = { '/api/x/ship': { post: { responses: { 200: {} } } } };

test('a stack without extension routes has the empty interface that imports name, and no other stack', () => {
  assert.match(typesDocument([], api({})), /^export interface Routes \{\n\}$/m);
  assert.match(typesDocument([], api({ '/api/v1/health': { get: {} } })), /^export interface Routes \{\n\}$/m);
  assert.match(typesDocument([], api(shipping)), /^export interface Routes \{\n {2}"POST \/api\/x\/ship": /m);
  assert.doesNotMatch(typesDocument([]), /Routes \{/);
});
