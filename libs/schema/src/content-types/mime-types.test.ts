import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findUnmatched, matchesMimeTypes } from './mime-types.ts';

for (const [types, patterns, expected] of [
  [['image/png'], [], true],
  [['image/png'], ['image/png'], true],
  [['image/png'], ['image/*'], true],
  [['image/png'], ['*/*'], true],
  [['image/png'], ['text/plain', 'image/jpeg'], false],
  [['imagery/png'], ['image/*'], false],
  [['image/svg+xml'], ['image/svg'], false],
  [['text/xml'], ['application/xml'], true],
  [['text/xml'], ['application/*'], true],
  [['application/rss+xml', 'text/xml'], ['application/xml'], true],
  [['application/rss+xml', 'text/xml'], ['application/rss+xml'], true],
  [['text/javascript', 'text/plain'], ['application/javascript'], true],
  [['text/javascript', 'text/plain'], ['text/plain'], true],
  [['text/csv'], ['text/plain'], false],
  [['image/jpeg'], ['image/jpg'], true],
] as const)
  test(`${types} ${expected ? 'matches' : 'does not match'} [${patterns}]`, () =>
    assert.equal(matchesMimeTypes(types, patterns), expected));

test('a pattern that no content has is found', () => {
  const possible = [
    ...['*/*', 'image/*', 'image/png', 'image/jpg', 'text/xml', 'application/xml', 'text/css', 'text/javascript'],
    ...['application/javascript', 'audio/aac', 'audio/webm', 'video/mp4', 'application/msword', 'application/zip'],
    ...['application/vnd.oasis.opendocument.text', 'application/epub+zip', 'application/octet-stream'],
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  ];
  assert.deepEqual(findUnmatched(possible), []);
  const impossible = ['image/pngg', 'model/*', 'text/x-python', 'application/csvx'];
  assert.deepEqual(findUnmatched([...possible, ...impossible]), impossible);
});
