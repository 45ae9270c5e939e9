import assert from 'node:assert/strict';
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
  const { isRetrying, ...run } = readTestRun(['--retry-failed']);
  const { isRetrying: isUsual, ...usual } = readTestRun([]);
  assert.deepEqual([isRetrying, isUsual], [true, false]);
  assert.deepEqual(run, usual);
});

test('npm test runs the quick files, and npm run test:slow the others', () => {
  const usual = readTestRun([]);
  const slow = readTestRun(['--slow']);
  assert.deepEqual([usual.isChecked, slow.isChecked], [true, false]);
  const [all, ...others] = usual.parts;
  assert.deepEqual([all?.topology, others], ['one', []]);
  assert.ok(filesOf(usual).every((file) => !isSlow(file)));
  const [slowFiles, slowScenarios, onProcesses, throughClient] = slow.parts;
  assert.deepEqual(
    slow.parts.map(({ topology }) => topology),
    [undefined, 'one', 'processes', 'one'],
  );
  assert.ok(slowFiles?.files.length && slowFiles.files.every((file) => isSlow(file) && !isScenario(file)));
  assert.ok(slowScenarios?.files.length && slowScenarios.files.every((file) => isSlow(file) && isScenario(file)));
  assert.deepEqual(
    slowScenarios.files.filter((file) => onProcesses?.files.includes(file)),
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
  assert.deepEqual(onProcesses?.files, scenariosOf('wire'));
  assert.deepEqual(throughClient?.files, scenariosOf('client'));
  assert.deepEqual(throughClient?.environment, { TEST_THROUGH: 'client' });
});

test('npm run test:all runs every file, and every scenario everywhere it can run', () => {
  const { parts, isChecked } = readTestRun(['--all']);
  const [usual, slowFiles, slowScenarios, onProcesses, throughClient] = parts;
  const every = filesOf({ ...readTestRun([]), parts: [usual, slowFiles, slowScenarios].flatMap((part) => part ?? []) });
  const scenarios = every.filter(isScenario).sort();
  assert.equal(isChecked, true);
  assert.deepEqual(usual, readTestRun([]).parts[0]);
  assert.deepEqual(slowFiles?.files, readTestRun(['--slow']).parts[0]?.files);
  assert.ok(parts.every(({ environment }) => environment?.TEST_TOPOLOGIES === undefined));
  assert.deepEqual(onProcesses?.files, scenarios);
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

test('selected files run on both topologies, including slow ones, without the checks', () => {
  const run = readTestRun(['scenarios/rate-limits', '--test-name-pattern', 'PUT', 'launch/test-run']);
  assert.deepEqual(filesOf(run), ['infra/launch/test-run.test.ts', 'tests/scenarios/rate-limits.slow.test.ts']);
  assert.deepEqual([run.isChecked, run.parts[0]?.topology], [false, undefined]);
  assert.deepEqual(run.flags, ['--test-name-pattern', 'PUT']);
});

test('npm run test:replicas runs every scenario, or the selected ones, on replicas', () => {
  const run = readTestRun(['--replicas', '--test-concurrency=2']);
  const [part, ...more] = run.parts;
  assert.deepEqual(more, []);
  assert.deepEqual(part?.files, filesOf(readTestRun(['tests/scenarios'])));
  assert.deepEqual([part?.topology, part?.environment?.TEST_BUS], ['replicas', 'cluster']);
  assert.deepEqual([run.isChecked, run.flags], [false, ['--test-concurrency=2']]);
  assert.deepEqual(filesOf(readTestRun(['--replicas', 'webhook-changes', 'launch/test-run'])), [
    'tests/scenarios/webhook-changes.test.ts',
  ]);
});

test('nothing runs when no path matches', () => {
  assert.deepEqual(readTestRun(['no such file']).parts, []);
});
