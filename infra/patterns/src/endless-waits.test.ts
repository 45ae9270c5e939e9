import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { findEndlessWaits } from './find-endless-waits.ts';

const repository = join(import.meta.dirname, '../../..');

/** Loops that end for a reason which the pattern does not see. */
const allowed: Readonly<Record<string, string>> = {
  'services/auth/src/testing/provider-hosts.ts': 'it writes until the buffer is full',
  'tests/pocketbase-clients/raw-stream.ts': 'each read has a deadline',
};

test('a test waits with `eventually`, not in a loop that may never end', () => {
  const files = globSync(['{libs,services,infra,examples}/**/{*.test,test/**/*,testing/**/*}.ts', 'tests/**/*.ts'], {
    cwd: repository,
    exclude: (name) => ['node_modules', 'load', 'extensions', 'some-loops.ts'].includes(name),
  });
  assert.ok(files.length > 900, `${files.length}`);
  const found = files.flatMap((file) => findEndlessWaits(join(repository, file)).map((line) => ({ file, line })));
  assert.deepEqual(
    found.filter(({ file }) => !Object.hasOwn(allowed, file)).map(({ file, line }) => `${file}:${line}`),
    [],
  );
  assert.deepEqual(
    Object.keys(allowed).filter((name) => !found.some(({ file }) => file === name)),
    [],
    'unused exceptions',
  );
});

test('loops that may never end are found', () => {
  assert.deepEqual(findEndlessWaits(join(import.meta.dirname, '../test/some-loops.ts')), [8, 9, 10, 13]);
});
