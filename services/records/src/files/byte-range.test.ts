import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readByteRange } from './byte-range.ts';

for (const [header, sizeBytes, expected] of [
  [undefined, 10, undefined],
  ['bytes=0-3', 10, { start: 0, end: 3 }],
  ['bytes=4-', 10, { start: 4, end: 9 }],
  ['bytes=-3', 10, { start: 7, end: 9 }],
  ['bytes=-30', 10, { start: 0, end: 9 }],
  ['bytes=5-500', 10, { start: 5, end: 9 }],
  ['bytes=10-', 10, 'unsatisfiable'],
  ['bytes=-0', 10, 'unsatisfiable'],
  ['bytes=0-', 0, 'unsatisfiable'],
  ['bytes=-5', 0, 'unsatisfiable'],
  ['bytes=5-3', 10, undefined],
  ['bytes=-', 10, undefined],
  ['bytes=0-1,3-4', 10, undefined],
  ['items=0-1', 10, undefined],
  ['bytes=a-b', 10, undefined],
] as const)
  test(`${header} of ${sizeBytes} bytes`, () => {
    assert.deepEqual(readByteRange(header, sizeBytes), expected);
  });
