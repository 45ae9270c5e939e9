import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileKey } from './file-key.ts';

test('a key has three plain segments', () => {
  assert.deepEqual(fileKey('c1', 'r1', 'photo_0123456789.jpg')?.segments, ['c1', 'r1', 'photo_0123456789.jpg']);
});

test('a name may have letters of every script, an id may not', () => {
  assert.deepEqual(fileKey('c1', 'r1', 'über_日本語.jpg')?.segments, ['c1', 'r1', 'über_日本語.jpg']);
  assert.equal(fileKey('ü', 'r1', 'name'), undefined);
  assert.equal(fileKey('c1', 'ü', 'name'), undefined);
});

const refused = [
  '',
  '.',
  '..',
  '.hidden',
  'a/b',
  '../../etc/passwd',
  'a\\b',
  'a\0b',
  'a b',
  'u\u0308',
  'a\u202Eb',
  'a\n',
  'x'.repeat(201),
];

for (const segment of refused)
  test(`${JSON.stringify(segment).slice(0, 40)} is not a key segment, at any position`, () => {
    assert.equal(fileKey(segment, 'r1', 'name'), undefined);
    assert.equal(fileKey('c1', segment, 'name'), undefined);
    assert.equal(fileKey('c1', 'r1', segment), undefined);
  });
