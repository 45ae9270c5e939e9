import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createQuickWrites } from './quick-writes.ts';

const named = (name: string) => ({ name, text: 'insert', values: [] });

test('a write is quick if it takes hardly longer than the quickest one of the last minute', () => {
  let nowMs = 0;
  const writes = createQuickWrites(() => nowMs);
  writes.noteRun(named('a'), 40);
  writes.noteRun(named('b'), 44);
  writes.noteRun(named('c'), 50);
  assert.deepEqual(
    ['a', 'b', 'c'].map((name) => writes.mayShare(named(name))),
    [true, true, false],
  );
  writes.noteRun(named('d'), 1);
  nowMs = 30_000;
  writes.noteRun(named('e'), 40);
  assert.equal(writes.mayShare(named('e')), false);
  // By now the disk is slower.
  nowMs = 60_000;
  writes.noteRun(named('e'), 40);
  assert.equal(writes.mayShare(named('e')), true);
});
