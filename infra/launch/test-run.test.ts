import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientScenarios } from './client-scenarios.ts';
import { readTestRun, type TestRun } from './test-run.ts';

const filesOf = ({ parts }: TestRun): string[] => parts.flatMap(({ files }) => files);
const isSlow = (file: string): boolean => file.endsWith('.slow.test.ts');

test('npm test and npm run test:slow run every file, and every scenario on both topologies', () => {
  const usual = readTestRun([]);
  const slow = readTestRun(['--slow', '--retry-failed']);
  assert.deepEqual([usual.isWhole, slow.isWhole], [true, false]);
  assert.deepEqual([usual.isRetrying, slow.isRetrying], [false, true]);
  assert.ok(filesOf(usual).every((file) => !isSlow(file)));
  const [slowFiles, onProcesses, throughClient] = slow.parts;
  assert.ok(slowFiles?.files.length && slowFiles.files.every(isSlow));
  assert.deepEqual(
    onProcesses?.files,
    filesOf(usual).filter((file) => file.startsWith('tests/scenarios/')),
  );
  assert.deepEqual(
    [usual.parts[0]?.topology, slowFiles?.topology, onProcesses?.topology],
    ['one', undefined, 'processes'],
  );
  assert.deepEqual(throughClient?.files, clientScenarios.map((name) => `tests/scenarios/${name}.test.ts`).sort());
});

test('selected files run on both topologies, including slow ones, without the checks', () => {
  const run = readTestRun(['scenarios/rate-limits', '--test-name-pattern', 'PUT', 'launch/test-run']);
  assert.deepEqual(filesOf(run), ['infra/launch/test-run.test.ts', 'tests/scenarios/rate-limits.slow.test.ts']);
  assert.deepEqual([run.isWhole, run.parts[0]?.topology], [false, undefined]);
  assert.deepEqual(run.flags, ['--test-name-pattern', 'PUT']);
});

test('npm run test:replicas runs every scenario, or the selected ones, on replicas', () => {
  const run = readTestRun(['--replicas', '--retry-failed', '--test-concurrency=2']);
  const [part, ...more] = run.parts;
  assert.deepEqual(more, []);
  assert.deepEqual(part?.files, filesOf(readTestRun(['tests/scenarios'])));
  assert.deepEqual([part?.topology, part?.environment?.TEST_BUS], ['replicas', 'cluster']);
  assert.deepEqual([run.isWhole, run.isRetrying, run.flags], [false, true, ['--test-concurrency=2']]);
  assert.deepEqual(filesOf(readTestRun(['--replicas', 'webhook-changes', 'launch/test-run'])), [
    'tests/scenarios/webhook-changes.test.ts',
  ]);
});

test('nothing runs when no path matches', () => {
  assert.deepEqual(readTestRun(['no such file']).parts, []);
});
