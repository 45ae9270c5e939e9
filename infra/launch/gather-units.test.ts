import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gatherUnits } from './gather-units.ts';
import { readTestRun } from './test-run.ts';

test('unit tests share processes within their package, and every file runs once', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'recordbus-gathered-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const files = readTestRun([]).parts.flatMap((part) => part.files);
  const run = gatherUnits(files, directory);
  const gathered = run
    .filter((file) => file.startsWith(directory))
    .map((file) =>
      Array.from(readFileSync(file, 'utf8').matchAll(/^import "(.*)";$/gm), ([, url = '']) =>
        relative(process.cwd(), fileURLToPath(url)),
      ),
    );
  const alone = run.filter((file) => !file.startsWith(directory));
  assert.deepEqual([...gathered.flat(), ...alone].sort(), [...files].sort());
  assert.ok(run.length < files.length / 1.5, `${run.length} processes for ${files.length} files`);
  for (const some of gathered) {
    assert.equal(new Set(some.map((file) => file.split('/', 2).join('/'))).size, 1, some.join());
    assert.ok(some.length <= 12, some.join());
  }
  for (const file of [
    'tests/scenarios/batch.test.ts',
    'libs/tokens/src/secret.test.ts',
    'libs/process/src/background/running-tasks.test.ts',
  ])
    assert.ok(alone.includes(file), file);
});
