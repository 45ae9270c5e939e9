import { test } from 'node:test';
import { assertOptionsRefused, assertReads, testField } from '../../test/test-field.ts';

test('unix seconds and date texts become whole unix seconds', () => {
  assertReads(testField('date'), [
    [1_700_000_000, 1_700_000_000],
    [0, 0],
    [-1.5, -2],
    [1_700_000_000.9, 1_700_000_000],
    ['2023-11-14T22:13:20Z', 1_700_000_000],
    ['2023-11-14T23:13:20.999+01:00', 1_700_000_000],
    ['2023-11-14', 1_699_920_000],
    ['Tue, 14 Nov 2023 22:13:20 GMT', 1_700_000_000],
    [1e11, 1e11],
  ]);
});

test('nothing else is a date', () => {
  const refusal = new Error('must be unix seconds or a date such as 2026-01-31T12:00:00Z');
  const tooLarge = new Error('must be unix seconds; are these milliseconds?');
  assertReads(testField('date'), [
    ['tomorrow', refusal],
    ['2023-13-45', refusal],
    ['12', refusal],
    [true, refusal],
    [{}, refusal],
    [[0], refusal],
    [1e11 + 1, tooLarge],
    [JSON.parse('-1e999'), tooLarge],
  ]);
});

test('a date has no options', () => assertOptionsRefused('date', [[{ min: 1 }, { '': 'Unrecognized key: "min"' }]]));
