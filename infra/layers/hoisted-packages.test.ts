import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

interface Locked {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean }>>;
}

test('every package that services need is in the root node_modules: the image has no other', () => {
  const lock: Locked = JSON.parse(readFileSync(join(import.meta.dirname, '../../package-lock.json'), 'utf8'));
  const nested = Object.entries(lock.packages)
    .filter(([path, { dev }]) => /^(libs|services)\/.*\/node_modules\//.test(path) && !dev)
    .map(([path]) => path);
  assert.deepEqual(nested, [], 'choose another version, or another package');
});
