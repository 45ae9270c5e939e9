import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertOptionsRefused, assertReads, narrowingsOf, testField } from '../../test/test-field.ts';

const notUrl = new Error('must be an address that starts with http:// or https://');

test('a web address starts with http:// or https:// [fields §3.5]', () => {
  assertReads(testField('url'), [
    ['http://example.org', 'http://example.org'],
    ['https://example.org/a?b=c#d', 'https://example.org/a?b=c#d'],
    ['http://127.0.0.1:8080/ä', 'http://127.0.0.1:8080/ä'],
    ['', ''],
    ['ftp://example.org', notUrl],
    ['javascript:alert(1)//http://', notUrl],
    [' http://example.org', notUrl],
    ['http://exa mple.org', notUrl],
    ['http://', notUrl],
    ['http://a\0', notUrl],
    ['http://a/\ud800', notUrl],
    [{}, new Error('must be a string')],
  ]);
});

test("lengths are limited, even by a unique field's index", () => {
  assertReads(testField('url', { min: 10, max: 12 }), [
    ['', ''],
    ['http://a', new Error('must have at least 10 characters')],
    ['http://a/bcdef', new Error('must have at most 12 characters')],
  ]);
  const long = `http://a/${'x'.repeat(2600)}`;
  assertReads(testField('url', { unique: true }), [
    [long, new Error('must have at most 2600 bytes, since it is unique')],
  ]);
  assertOptionsRefused('url', [[{ min: 3, max: 2 }, { min: 'must not be above max' }]]);
  assert.deepEqual(narrowingsOf('url', {}, { unique: true }), [['unique', 'octet_length("f") > 2600']]);
});
