import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { findNatsBinary } from '@recordbus/embedded';
import { createLogger } from '@recordbus/process/logging';
import { runStage } from './run-stage.ts';
import { type Part, readTestRun } from './test-run.ts';

/** Longer than any file takes. It turns a hang into a failure that names its file. */
const fileTimeoutMs = 600_000;

/** Starts the database and the bus that every file may use, and names them in TEST_DATABASE_URL and TEST_NATS_URL. */
const globalSetup = '--test-global-setup=tests/harness/global-setup.ts';
/** More than two cores can run at once, because tests mostly wait. */
const concurrency = '--test-concurrency=4';
const defaults = ['--test', concurrency, `--test-timeout=${fileTimeoutMs}`, globalSetup];
/** Only for files that run alone is it known what they cost the shared servers. */
const processorTime = [
  '--test-concurrency=1',
  '--test-reporter=spec',
  '--test-reporter-destination=stdout',
  `--test-reporter=${join(import.meta.dirname, 'processor-time.ts')}`,
  '--test-reporter-destination=stdout',
];

const failedFiles = (destination: string): string[] => [
  '--test-reporter=spec',
  '--test-reporter-destination=stdout',
  `--test-reporter=${join(import.meta.dirname, 'failed-files.ts')}`,
  `--test-reporter-destination=${destination}`,
];

const run = readTestRun(process.argv.slice(2));
if (run.parts.length === 0) {
  process.stderr.write(`No test file has ${run.selectors.join(' or ')} in its path.\n`);
  process.exit(1);
}

function runTests(part: Part, more: readonly string[] = []): Promise<boolean> {
  const { title, files, topology, environment, flags = [] } = part;
  const args = [...defaults, ...flags, ...more, ...run.flags, ...files];
  const variables = { ...(topology && { TEST_TOPOLOGY: topology }), ...environment };
  return runStage({ title, command: process.execPath, args, environment: variables });
}

/** Runs a part, then its failed files once more. Returns whether each file passed. */
async function runWithRetry(part: Part): Promise<boolean> {
  const directory = mkdtempSync(join(tmpdir(), 'recordbus-tests-'));
  const list = join(directory, 'failed');
  try {
    if (await runTests(part, failedFiles(list))) return true;
    // A failed subtest has the file that declares it, often a module with scenarios: its test file has failed too.
    const listed = new Set(readFileSync(list, 'utf8').split('\n'));
    const files = part.files.filter((file) => listed.has(resolve(file)));
    if (files.length === 0) return false;
    const passed = await runTests({ ...part, title: 'Failed files, once more', files }, ['--test-concurrency=1']);
    if (passed) process.stdout.write(`\nThese files failed at first and passed alone:\n${files.join('\n')}\n`);
    return passed;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function runPart(part: Part): Promise<boolean> {
  if (run.isRetrying) return runWithRetry(part);
  return runTests(part, run.showsProcessorTime ? processorTime : []);
}

/** Names the nats-server for every file, so one that npm lacks is built once. Stacks find it on PATH. */
async function nameNatsServer(): Promise<void> {
  const cacheDirectory = join(import.meta.dirname, '../../node_modules/.cache');
  const binary = await findNatsBinary({ cacheDirectory, log: createLogger('test', 'info') });
  process.env.TEST_NATS_SERVER = binary;
  process.env.PATH = `${dirname(binary)}${delimiter}${process.env.PATH}`;
}

if (process.env.TEST_STACK !== 'containers') await nameNatsServer();
// A run with selected tests skips the checks; use `npm run check` for them.
const check = [join(import.meta.dirname, 'check.ts')];
const checked = !run.isChecked || (await runStage({ title: 'Check', command: process.execPath, args: check }));
let tested = true;
for (const part of run.parts) tested = (await runPart(part)) && tested;
if (!checked) process.stdout.write('\nThe check before the tests failed; see its part above.\n');
process.exitCode = checked && tested ? 0 : 1;
