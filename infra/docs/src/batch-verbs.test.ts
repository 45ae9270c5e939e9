import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { BatchCollection } from '@recordbus/client';
import type { BatchOperation } from '@recordbus/extensions';
import { operationVerbs } from '@recordbus/records';

const verbs = [...operationVerbs].sort();

test("the client's batch has a function for every verb", () => {
  const functions: Readonly<Record<keyof BatchCollection<Record<string, never>, string>, true>> = {
    create: true,
    update: true,
    upsert: true,
    delete: true,
  };
  assert.deepEqual(Object.keys(functions).sort(), verbs);
});

test("extensions' batches take every verb", () => {
  const taken: Readonly<Record<BatchOperation['op'], true>> = {
    create: true,
    update: true,
    upsert: true,
    delete: true,
  };
  assert.deepEqual(Object.keys(taken).sort(), verbs);
});

test('the reference names every verb', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/reference/batch.md'), 'utf8');
  const [, row = ''] = /^\| `op` \| all \| ([^|]+) \|$/m.exec(page) ?? [];
  assert.deepEqual([...row.matchAll(/`([a-z]+)`/g)].map(([, verb]) => verb).sort(), verbs);
});
