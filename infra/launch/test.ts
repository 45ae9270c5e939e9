import { join } from 'node:path';
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

const run = readTestRun(process.argv.slice(2));
if (run.parts.length === 0) {
  process.stderr.write(`No test file has ${run.selectors.join(' or ')} in its path.\n`);
  process.exit(1);
}

function runTests({ title, files, topology, environment, flags = [] }: Part): Promise<boolean> {
  const measures = run.showsProcessorTime ? processorTime : [];
  const args = [...defaults, ...flags, ...measures, ...run.flags, ...files];
  const variables = { ...(topology && { TEST_TOPOLOGY: topology }), ...environment };
  return runStage({ title, command: process.execPath, args, environment: variables });
}

// A run with selected tests skips the checks; use `npm run check` for them.
const check = [join(import.meta.dirname, 'check.ts')];
const checked = !run.isChecked || (await runStage({ title: 'Check', command: process.execPath, args: check }));
let tested = true;
for (const part of run.parts) tested = (await runTests(part)) && tested;
if (!checked) process.stdout.write('\nThe check before the tests failed; see its part above.\n');
process.exitCode = checked && tested ? 0 : 1;
