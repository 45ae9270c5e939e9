import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findBareListeners } from './find-bare-listeners.ts';

const repository = fileURLToPath(new URL('../../..', import.meta.url));

/** Listeners whose bytes come from nobody outside, each with its reason. */
const allowed: Readonly<Record<string, string>> = {
  'libs/extension-host/src/runner-process.ts': 'messages of the runner',
  'libs/extension-host/src/worker/runner.ts': 'messages within the runner, which may end',
  'libs/extension-host/src/worker/worker.ts': 'messages within the runner, which may end',
  'services/gateway/src/upstream/endpoints.ts': 'a connection to a service of the product',
  'services/records/src/files/previews/decoder-process.ts': 'messages of the decoder',
  'services/records/src/files/previews/decoder.ts': 'messages within the decoder, which may end',
};

test('what a client sends is taken by guarded listeners, so that no bytes end a process', () => {
  const files = globSync('{libs,services}/**/src/**/*.ts', {
    cwd: repository,
    exclude: (name) => name === 'node_modules',
  });
  const found = files
    .filter((file) => !/\.test\.ts$|\/testing\/|^services\/admin\/pages\/|^libs\/client\//.test(file))
    .flatMap((file) => findBareListeners(join(repository, file)).map((line) => ({ file, line })));
  const unexpected = found.filter(({ file }) => !Object.hasOwn(allowed, file));
  assert.deepEqual(
    unexpected.map(({ file, line }) => `${file}:${line}`),
    [],
  );
  const used = new Set(found.map(({ file }) => file));
  assert.deepEqual(
    Object.keys(allowed).filter((file) => !used.has(file)),
    [],
    'unused exceptions',
  );
});

test('bare listeners are found in every form', () => {
  assert.deepEqual(findBareListeners(join(import.meta.dirname, '../test/some-listeners.ts')), [9, 10, 11]);
});
