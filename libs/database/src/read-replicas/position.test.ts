import assert from 'node:assert/strict';
import { test } from 'node:test';
import { laterOf, onlyPrimary } from '@recordbus/request/consistency';
import { consistencyOf, laterPosition, positionOf } from './position.ts';

const positions = [
  { timeline: 1, lsn: 9 },
  { timeline: 1, lsn: 16 },
  { timeline: 1, lsn: 2 ** 44 },
  { timeline: 2, lsn: 3 },
  { timeline: 16, lsn: 0 },
];

test('positions keep their values and their order as texts', () => {
  const texts = positions.map(consistencyOf);
  assert.deepEqual(texts.map(positionOf), positions);
  assert.deepEqual(texts.toSorted(), texts);
  for (const [index, position] of positions.entries())
    for (const other of positions.slice(index)) {
      assert.equal(laterPosition(position, other), other);
      assert.equal(laterOf(consistencyOf(other), consistencyOf(position)), consistencyOf(other));
    }
  assert.equal(laterOf(onlyPrimary, texts.at(-1)), onlyPrimary);
});

test('a text that names no position is undefined', () => {
  const texts = [
    '',
    'primary',
    '1-2',
    '00000001-00000000000000zz',
    'ffffffff-0000000000000001',
    '00000001-ffffffffffffffff',
  ];
  assert.deepEqual(
    texts.map(positionOf),
    texts.map(() => undefined),
  );
});
