import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFrame } from './frame.ts';
import { createKeptFrames } from './kept-frames.ts';

const mebibyte = 'x'.repeat(2 ** 20);

test('messages with one id are composed once', () => {
  const kept = createKeptFrames();
  let composed = 0;
  for (let n = 0; n < 100; n += 1)
    kept.of(kept, '1', () => {
      composed += 1;
      return createFrame('update', mebibyte.repeat(8));
    });
  assert.equal(composed, 1);
});

test('messages for endless ids are not kept [realtime §6.1]', () => {
  const kept = createKeptFrames();
  const composed = new Map<string, number>();
  for (let round = 0; round < 2; round += 1)
    for (let n = 0; n < 100; n += 1)
      kept.of(kept, String(n), () => {
        composed.set(String(n), (composed.get(String(n)) ?? 0) + 1);
        return createFrame('update', mebibyte);
      });
  assert.deepEqual([composed.get('0'), composed.get('1'), composed.get('2'), composed.get('99')], [1, 1, 2, 2]);
});

test('what shows different records is kept for each', () => {
  const kept = createKeptFrames();
  const [one, other] = [{}, {}];
  const first = kept.of(one, '1', () => createFrame('update', mebibyte.repeat(2)));
  const second = kept.of(other, '1', () => createFrame('update', mebibyte.repeat(2)));
  assert.notEqual(first, second);
  assert.equal(
    kept.of(other, '1', () => assert.fail()),
    second,
  );
});
