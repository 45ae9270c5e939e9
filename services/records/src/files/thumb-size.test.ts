import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readThumbSize } from './thumb-size.ts';

for (const [text, width, height, mode] of [
  ['100x100', 100, 100, 'centre'],
  ['0x100', 0, 100, 'centre'],
  ['100x0', 100, 0, 'centre'],
  ['100x50t', 100, 50, 'top'],
  ['100x50b', 100, 50, 'bottom'],
  ['100x50f', 100, 50, 'fit'],
  ['4096x4096', 4096, 4096, 'centre'],
] as const)
  test(`${text} is a size`, () => {
    assert.deepEqual(readThumbSize(text), { width, height, mode });
  });

for (const text of [
  '',
  '100',
  'x',
  '0x0',
  '-1x5',
  '1.5x2',
  '100x100z',
  '100X100',
  '4097x1',
  '99999x1',
  ' 1x1',
  '1x1\n',
])
  test(`${JSON.stringify(text)} is not a size: 400`, () => {
    assert.throws(() => readThumbSize(text), { status: 400 });
  });
