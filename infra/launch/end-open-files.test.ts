import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';

const preload = join(import.meta.dirname, 'end-open-files.ts');

/** Runs a test file with this text in a process of its own. Returns its exit code and its output. */
function runFile(t: TestContext, text: string, limitMs: number): Promise<readonly [unknown, string]> {
  const directory = mkdtempSync(join(tmpdir(), 'recordbus-open-files-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'some.test.mjs');
  writeFileSync(file, text);
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
  const env = { ...environment, TEST_END_MS: String(limitMs) };
  return new Promise((resolve) => {
    // This reporter prints a failure's reason at once.
    execFile(
      process.execPath,
      ['--import', preload, '--test-reporter=tap', file],
      { env },
      (error, output, complaints) => resolve([error?.code ?? 0, output + complaints]),
    );
  });
}

const imports = "import { after, test } from 'node:test'; import { createServer } from 'node:net';";

test('a file with an open server ends after its hooks, with the failed test and what is open', async (t) => {
  const text = `${imports}
    after(() => console.log('its hook'));
    test('fails', () => { createServer().listen(0); throw new Error('the reason'); });`;
  const [code, output] = await runFile(t, text, 100);
  assert.equal(code, 1);
  assert.match(output, /its hook/);
  assert.match(output, /the reason/);
  assert.match(output, /some\.test\.mjs did not end by itself after its last test\. Still open: .*TCPServerWrap/);
});

test('a file that leaves nothing open ends by itself at once, with a thread that loads this too', async (t) => {
  const text = `${imports} import { Worker } from 'node:worker_threads';
    test('passes', () => void new Worker('setTimeout(() => {}, 10)', { eval: true }));`;
  const [code, output] = await runFile(t, text, 600_000);
  assert.deepEqual([code, output.includes('Still open')], [0, false], output);
});
