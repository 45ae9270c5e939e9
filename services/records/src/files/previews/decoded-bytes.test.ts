import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readThumbSize } from '../thumb-size.ts';
import { decodedBytes } from './decoded-bytes.ts';

const image = { width: 4000, height: 3000, channels: 3, depth: 'uchar', hasAlpha: false } as const;
const cases = [
  ['a png of 8 bits', { ...image, format: 'png' }, '100x100', 36_000_000],
  ['a png of 16 bits and alpha', { ...image, format: 'png', depth: 'ushort', channels: 4 }, '100x100', 96_000_000],
  ['a jpeg, at an eighth of its sides', { ...image, format: 'jpeg' }, '100x100', 562_500],
  ['a jpeg, at half of them', { ...image, format: 'jpeg' }, '2000x0', 9_000_000],
  ['a jpeg of which one side is as long as that of the preview', { ...image, format: 'jpeg' }, '100x3000', 36_000_000],
  ['a turned jpeg', { ...image, format: 'jpeg', orientation: 6 }, '1500x0', 9_000_000],
  [
    'a progressive jpeg',
    { ...image, format: 'jpeg', isProgressive: true, chromaSubsampling: '4:2:0' },
    '100x100',
    36_562_500,
  ],
  ['a sample of an unknown depth', { ...image, format: 'png', depth: 'dpcomplex' }, '100x100', 576_000_000],
] as const;
for (const [name, measured, size, bytes] of cases)
  test(`${name} takes ${bytes} bytes decoded [files §5.5]`, () => {
    assert.equal(
      decodedBytes({ isProgressive: false, chromaSubsampling: '', ...measured }, readThumbSize(size)),
      bytes,
    );
  });
