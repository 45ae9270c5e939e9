import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { test } from 'node:test';
import { shapedReadBudget } from '../connections/connection-budget.ts';
import { createLongReadWidth } from './long-read-width.ts';

const cores = availableParallelism();

test('long reads use every core, except during other work and for a while after it', () => {
  let nowMs = 0;
  const width = createLongReadWidth(() => nowMs);
  const all = Math.min(cores, 8);
  assert.equal(width.now(), all);
  width.noteShortWork();
  assert.equal(width.now(), Math.min(Math.max(cores - 1, 1), all));
  nowMs += shapedReadBudget.quietMs;
  assert.equal(width.now(), all);
});
