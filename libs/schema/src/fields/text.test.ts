import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertOptionsRefused, assertReads, narrowingsOf, testField } from '../../test/test-field.ts';
import { fieldTypeOf } from './index.ts';

test('text is stored unchanged', () => {
  assertReads(testField('text'), [
    ['', ''],
    ['  spaced\n', '  spaced\n'],
    ['😀', '😀'],
    ["'; drop table", "'; drop table"],
  ]);
});

test('other values, and text that the database cannot store, are refused', () => {
  const surrogate = new Error('must not contain NUL or half a surrogate pair');
  assertReads(testField('text'), [
    [5, new Error('must be a string')],
    [true, new Error('must be a string')],
    [['a'], new Error('must be a string')],
    [{}, new Error('must be a string')],
    ['a\0b', surrogate],
    ['\ud800', surrogate],
  ]);
});

test('min and max count characters, not code units [fields §2.4]', () => {
  assertReads(testField('text', { min: 2, max: 3 }), [
    ['😀', new Error('must have at least 2 characters')],
    ['😀😀', '😀😀'],
    ['😀😀😀', '😀😀😀'],
    ['abcd', new Error('must have at most 3 characters')],
  ]);
});

test('an empty text skips min and pattern [fields §2.2]', () => {
  assertReads(testField('text', { min: 2, pattern: 'x' }), [['', '']]);
});

test('a pattern is searched, not anchored', () => {
  assertReads(testField('text', { pattern: 'b+' }), [
    ['abba', 'abba'],
    ['ACA', new Error('must match b+')],
  ]);
  assertReads(testField('text', { pattern: '^\\p{Lu}' }), [
    ['Über', 'Über'],
    ['über', new Error('must match ^\\p{Lu}')],
  ]);
});

// With backtracking, this would never end.
test('a pattern that a backtracking engine cannot finish takes linear time', () => {
  assertReads(testField('text', { pattern: '^(a+)+$' }), [[`${'a'.repeat(5000)}!`, new Error('must match ^(a+)+$')]]);
});

test("the longest text depends on the pattern's size [cost §4.2]", () => {
  const tooLong = (most: number, pattern: string) =>
    new Error(`must have at most ${most} characters, since it is searched for ${pattern}`);
  assertReads(testField('text', { pattern: 'b' }), [
    [`${'a'.repeat(99_999)}b`, `${'a'.repeat(99_999)}b`],
    ['b'.repeat(100_001), tooLong(100_000, 'b')],
  ]);
  assertReads(testField('text', { pattern: '(?:a|b)*a(?:a|b){400}$' }), [
    ['ab'.repeat(2000), tooLong(738, '(?:a|b)*a(?:a|b){400}$')],
  ]);
});

test('a unique text fits an index entry', () => {
  assertReads(testField('text', { unique: true }), [
    ['a'.repeat(2600), 'a'.repeat(2600)],
    ['ä'.repeat(1301), new Error('must have at most 2600 bytes, since it is unique')],
  ]);
});

test('options are checked', () => {
  const notLinear = 'is not a regular expression that runs in linear time';
  assertOptionsRefused('text', [
    [{ min: 3, max: 2 }, { min: 'must not be above max' }],
    [{ min: -1 }, { min: 'must not be negative' }],
    [{ min: 1.5 }, { min: 'must be a whole number' }],
    [{ max: 0 }, { max: 'must be at least 1' }],
    [{ max: '5' }, { max: 'must be a whole number' }],
    [{ unique: 1 }, { unique: 'must be true or false' }],
    [{ pattern: '(' }, { pattern: notLinear }],
    [{ pattern: '(a)\\1' }, { pattern: notLinear }],
    [{ pattern: 'a(?=b)' }, { pattern: notLinear }],
    [{ pattern: '(a{1000}){1000}' }, { pattern: notLinear }],
    [{ pattern: 'a'.repeat(1001) }, { pattern: 'must have at most 1000 characters' }],
    [{ pattern: '[ab]{600}[ab]{600}' }, { pattern: 'is too large a pattern' }],
    [{ pattern: '('.repeat(900_000) }, { pattern: 'must have at most 1000 characters' }],
    [{ pattern: '\0' }, { pattern: 'must not contain NUL or half a surrogate pair' }],
    [{ pattern: '\udc00' }, { pattern: 'must not contain NUL or half a surrogate pair' }],
  ]);
});

test('narrower options are checked against the rows, wider ones are not', () => {
  assert.deepEqual(narrowingsOf('text', {}, { min: 2 }), [['min', `"f" <> '' and char_length("f") < 2`]]);
  assert.deepEqual(narrowingsOf('text', { min: 2 }, { min: 1 }), []);
  assert.deepEqual(narrowingsOf('text', { min: 2 }, {}), []);
  assert.deepEqual(narrowingsOf('text', {}, { max: 2 }), [['max', 'char_length("f") > 2']]);
  assert.deepEqual(narrowingsOf('text', { max: 2 }, { max: 3 }), []);
  assert.deepEqual(narrowingsOf('text', {}, { unique: true }), [['unique', 'octet_length("f") > 2600']]);
  assert.deepEqual(narrowingsOf('text', { unique: true }, { unique: true }), []);
  assert.deepEqual(narrowingsOf('text', { pattern: 'a' }, { pattern: 'a' }), []);
  const now = testField('text', { pattern: 'b' });
  const [narrowing] = fieldTypeOf(now).narrowings?.(testField('text', { pattern: 'a' }), now, '"f"') ?? [];
  assert.deepEqual(
    [narrowing?.option, narrowing?.refuses?.('a'), narrowing?.refuses?.('ab')],
    ['pattern', true, false],
  );
});
