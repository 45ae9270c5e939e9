import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collectSpent } from './spent-chunks.ts';

test('frees chunks that own their memory, and leaves shared memory alone', () => {
  const own = Buffer.from(new ArrayBuffer(64 * 1024));
  const pooled = Buffer.from('a short text');
  const part = own.subarray(1, 9);
  const spent = collectSpent();
  for (const chunk of [own, pooled]) spent.add(chunk);
  assert.deepEqual([own.length, part.length], [65_536, 8]);
  spent.free();
  assert.deepEqual([own.length, part.length, pooled.toString()], [0, 0, 'a short text']);
});

test('keeps no chunks from a long body', () => {
  const chunks = Array.from({ length: 9 }, () => Buffer.from(new ArrayBuffer(2 ** 19)));
  const spent = collectSpent();
  for (const chunk of chunks) spent.add(chunk);
  spent.free();
  assert.equal(chunks[0]?.length, 2 ** 19);
});
