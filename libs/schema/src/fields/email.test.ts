import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertOptionsRefused, assertReads, narrowingsOf, testField } from '../../test/test-field.ts';

const notAddress = new Error('must look like name@example.com');

test('an address is local@domain.tld without white space [fields §3.4]', () => {
  assertReads(testField('email'), [
    ['ann@example.org', 'ann@example.org'],
    ['Ann+x@Mail.example.org', 'Ann+x@Mail.example.org'],
    ['', ''],
    ['ann', notAddress],
    ['ann@example', notAddress],
    ['@example.org', notAddress],
    ['an n@example.org', notAddress],
    [' ann@example.org', notAddress],
    ['ann@example.org\n', notAddress],
    ['a\0@example.org', notAddress],
    ['\ud800@example.org', notAddress],
    [5, new Error('must be a string')],
  ]);
});

test('lengths are limited, except for the empty text [fields §2.2]', () => {
  assertReads(testField('email', { min: 8, max: 10 }), [
    ['', ''],
    ['a@b.org', new Error('must have at least 8 characters')],
    ['ann@b.org', 'ann@b.org'],
    ['annette@b.org', new Error('must have at most 10 characters')],
  ]);
  assertOptionsRefused('email', [
    [{ min: 3, max: 2 }, { min: 'must not be above max' }],
    [{ min: -1 }, { min: 'must not be negative' }],
  ]);
});

test('narrower lengths are checked against the rows', () => {
  assert.deepEqual(narrowingsOf('email', {}, { min: 3, max: 9 }), [
    ['min', `"f" <> '' and char_length("f") < 3`],
    ['max', 'char_length("f") > 9'],
  ]);
  assert.deepEqual(narrowingsOf('email', { max: 9 }, { max: 10 }), []);
});

test("spaces around an account's address are removed [fields §3.4]", () => {
  assertReads(testField('email', {}, { system: true }), [[' ann@example.org\n', 'ann@example.org']]);
});
