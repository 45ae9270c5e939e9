import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maskKeys } from './mask-keys.ts';

const key = `rbk_abcdefghijkmnpqr_${'S3cret-_'.repeat(5)}xyz`;

test("a key's secret is masked everywhere [keys §1.4]", () => {
  for (const text of [key, `Bearer ${key}`, `{"a":"${key}"}`, `/api/${key}/x`, `${key} ${key}`, key.toUpperCase()]) {
    assert.ok(!/s3cret/i.test(maskKeys(text)), text);
    assert.match(maskKeys(text), /rbk_abcdefghijkmnpqr_\*\*\*/i);
  }
  const encoded = key.slice(0, 12).replace(/./g, (one) => `%${one.charCodeAt(0).toString(16)}`) + key.slice(12);
  for (const text of [key.replaceAll('_', '%5F'), encoded]) assert.ok(!maskKeys(text).includes('S3cret'), text);
});

test('other texts stay unchanged', () => {
  for (const text of ['', 'rbk_', 'rbk_1', 'a turbkey', 'rbk_abcdefghijkmnpqr', 'rbk_short_secret'])
    assert.equal(maskKeys(text), text);
});
