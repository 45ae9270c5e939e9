import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { scenarioRuns } from './scenario-runs.ts';
import { readTestRun, type TestRun } from './test-run.ts';

const filesOf = ({ parts }: TestRun): string[] => parts.flatMap(({ files }) => files);
const isSlow = (file: string): boolean => file.endsWith('.slow.test.ts');
const isScenario = (file: string): boolean => file.startsWith('tests/scenarios/');
const scenariosOf = (run: string): string[] =>
  Object.keys(scenarioRuns)
    .filter((name) => Object(scenarioRuns[name]).includes(run))
    .map((name) => `tests/scenarios/${name}.test.ts`)
    .sort();

test('--retry-failed changes only what happens to failed files', () => {
  const { retriesFailed, ...run } = readTestRun(['--retry-failed']);
  const { retriesFailed: usually, ...usual } = readTestRun([]);
  assert.deepEqual([retriesFailed, usually], [true, false]);
  assert.deepEqual(run, usual);
});

test('npm test runs the quick files, and npm run test:slow the others', () => {
  const usual = readTestRun([]);
  const slow = readTestRun(['--slow']);
  assert.deepEqual([usual.isChecked, slow.isChecked], [true, false]);
  const [all, ...others] = usual.parts;
  assert.deepEqual([all?.topology, others], ['one', []]);
  assert.ok(filesOf(usual).every((file) => !isSlow(file)));
  const [slowFiles, onProcesses, throughClient] = slow.parts;
  assert.deepEqual(
    slow.parts.map(({ topology }) => topology),
    ['one', 'processes', 'one'],
  );
  assert.ok(slowFiles?.files.length && slowFiles.files.every(isSlow));
  assert.deepEqual(
    slowFiles.files.filter((file) => onProcesses?.files.includes(file)),
    [],
    'CI runs a slow scenario once',
  );
  const selected = filesOf(readTestRun(['.slow.test.ts']));
  assert.deepEqual(
    selected.filter((file) => !filesOf(slow).includes(file)),
    [],
    'CI runs every slow file',
  );
  assert.deepEqual(slowFiles.environment, { TEST_TOPOLOGIES: 'fewest' });
  assert.deepEqual(onProcesses?.files.toSorted(), scenariosOf('wire'));
  assert.deepEqual(throughClient?.files, scenariosOf('client'));
  assert.deepEqual(throughClient?.environment, { TEST_THROUGH: 'client' });
});

test('npm run test:all runs every file, and every scenario everywhere it can run', () => {
  const { parts, isChecked } = readTestRun(['--all']);
  const [usual, slowFiles, onProcesses, throughClient] = parts;
  const every = filesOf({ ...readTestRun([]), parts: [usual, slowFiles].flatMap((part) => part ?? []) });
  const scenarios = every.filter(isScenario).sort();
  assert.equal(isChecked, true);
  assert.deepEqual(usual, readTestRun([]).parts[0]);
  assert.ok(slowFiles?.files.every(isSlow));
  assert.ok(parts.every(({ environment }) => environment?.TEST_TOPOLOGIES === undefined));
  assert.deepEqual(onProcesses?.files.toSorted(), scenarios);
  assert.deepEqual(throughClient?.files, [...scenariosOf('client'), ...scenariosOf('clientInAll')].sort());
});

test('the run list has every scenario file', () => {
  const files = filesOf(readTestRun(['tests/scenarios/']));
  const listed = Object.keys(scenarioRuns).map((name) => `tests/scenarios/${name}.test.ts`);
  const message = 'decide in infra/launch/scenario-runs.ts where these files run';
  assert.deepEqual(
    files.filter((file) => !listed.includes(file)),
    [],
    message,
  );
  assert.deepEqual(
    listed.filter((file) => !files.includes(file)),
    [],
    'these files do not exist',
  );
});

test('CI runs no slow file on separate processes only that has tests for one process', () => {
  const wire = scenariosOf('wire').filter(isSlow);
  assert.ok(wire.length > 0);
  assert.deepEqual(
    wire.filter((file) => /onOneProcess\(/.test(readFileSync(file, 'utf8'))),
    [],
    'nothing runs these tests: move them to a file without `wire`',
  );
});

test('selected files run on both topologies, including slow ones, without the checks', () => {
  const run = readTestRun(['scenarios/rate-limits', '--test-name-pattern', 'PUT', 'launch/test-run']);
  assert.deepEqual(filesOf(run), ['infra/launch/test-run.test.ts', 'tests/scenarios/rate-limits.slow.test.ts']);
  assert.deepEqual([run.isChecked, run.parts[0]?.topology], [false, undefined]);
  assert.deepEqual(run.testNamePatterns, ['PUT']);
});

test('npm run test:replicas runs every scenario, or the selected ones, on replicas', () => {
  const run = readTestRun(['--replicas', '--test-concurrency=2']);
  const [part, ...more] = run.parts;
  assert.deepEqual(more, []);
  assert.deepEqual(part?.files, filesOf(readTestRun(['tests/scenarios'])));
  assert.deepEqual([part?.topology, part?.environment?.TEST_BUS], ['replicas', 'cluster']);
  assert.deepEqual([run.isChecked, part?.concurrency, run.concurrency], [false, 1, 2]);
  assert.deepEqual(filesOf(readTestRun(['--replicas', 'webhook-changes', 'launch/test-run'])), [
    'tests/scenarios/webhook-changes.test.ts',
  ]);
});

test('an unknown flag is refused', () => {
  assert.throws(() => readTestRun(['--test-onyl']), /Unknown option '--test-onyl'/);
});

test('nothing runs when no path matches', () => {
  assert.deepEqual(readTestRun(['no such file']).parts, []);
});
