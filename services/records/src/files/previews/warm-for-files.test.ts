import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '@recordbus/process/logging';
import type { Collection } from '@recordbus/schema';
import { testCollection } from '@recordbus/schema/testing';
import { createWarmForFiles } from './warm-for-files.ts';

const withoutFiles = testCollection('notes', [{ name: 'text' }]);
const withFiles = testCollection('reports', [{ name: 'scan', type: 'file' }]);

function startWith(first: readonly Collection[]) {
  let current = first;
  const listeners = new Set<() => void>();
  const counts = { started: 0, listeners };
  const warming = createWarmForFiles({
    decoders: {
      async warm() {
        counts.started += 1;
      },
    },
    collections: {
      all: () => current,
      onChange(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    log: createLogger('test', 'silent'),
  });
  const change = (next: readonly Collection[]) => {
    current = next;
    for (const listener of listeners) listener();
  };
  return { counts, warming, change };
}

test('a service whose collections have files starts a decoder', async () => {
  const { counts, warming } = startWith([withoutFiles, withFiles]);
  await warming.warm();
  assert.equal(counts.started, 1);
});

test('a service without files starts one with the first file field, until it stops', async () => {
  const { counts, warming, change } = startWith([withoutFiles]);
  await warming.warm();
  change([withoutFiles, testCollection('more', [])]);
  assert.equal(counts.started, 0);
  change([withoutFiles, withFiles]);
  assert.equal(counts.started, 1);
  warming.stop();
  assert.equal(counts.listeners.size, 0);
});
