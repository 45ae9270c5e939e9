import assert from 'node:assert/strict';
import { test } from 'node:test';
import { joinParts, jsonParts } from './hashed-text.ts';

test('joined parts equal the text from JSON.stringify, with its ETag', async () => {
  const value = {
    openapi: '3.1.1',
    absent: undefined,
    none: null,
    empty: {},
    tags: [{ name: 'a' }, undefined, 3],
    paths: { '/a"b': { get: { summary: 'é', gone: undefined } }, '/c': {}, 7: true },
  };
  for (const levels of [0, 1, 2, 3, 9]) {
    const { bytes, etag } = await joinParts(jsonParts(value, levels));
    assert.equal(bytes.toString(), JSON.stringify(value));
    assert.equal(etag, (await joinParts([JSON.stringify(value)])).etag);
  }
});
