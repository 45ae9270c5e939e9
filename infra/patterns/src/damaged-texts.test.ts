import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const repository = join(import.meta.dirname, '../../..');

/**
 * Fixed letters in place of a text's first or last ones, as many as were there. A random text begins with a given letter
 * once in 64 times, and then it is not damaged.
 */
const replacements = [/`([\w-]+)\$\{[\w.]+\.slice\((\d+)\)\}/g, /\.slice\(0, -(\d+)\)\}([\w-]+)`/g];

/** Files in which the text has no such letters, or which damage nothing. */
const allowed: Readonly<Record<string, string>> = {
  'libs/crypto/src/stored-hash.test.ts': 'a fixed text',
  'libs/pocketbase-move/src/read-settings.test.ts': 'fixed texts',
  'libs/storage/src/local-storage.test.ts': 'another id',
  'services/records/test/creates-with-files.test.ts': 'an id has no x',
  'tests/scenarios/rule-trial.test.ts': 'another name',
};

/** Returns the replacements in a test. */
const replacementsIn = (text: string): string[] =>
  replacements.flatMap((pattern) =>
    [...text.matchAll(pattern)]
      .filter(([, one = '', other = '']) =>
        [one, other].some((part, place, both) => part === `${both[1 - place]?.length}`),
      )
      .map(([whole]) => whole),
  );

test('a test that damages a random text never leaves it as it is', () => {
  const files = globSync(['{libs,services,infra}/**/*.test.ts', 'tests/**/*.ts'], {
    cwd: repository,
    exclude: (name) => name === 'node_modules',
  });
  assert.ok(files.length > 500);
  const found = files.filter((file) => replacementsIn(readFileSync(join(repository, file), 'utf8')).length > 0);
  assert.deepEqual(found.sort(), Object.keys(allowed).sort());
});

test('replacements are found at both ends', () => {
  const samples = readFileSync(join(import.meta.dirname, '../test/some-damaged-texts.ts'), 'utf8');
  assert.equal(replacementsIn(samples).length, 2);
});
