import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { runStage } from './run-stage.ts';

/** The runner sorts the files: tests next to the code run before the black-box suite in `tests`. */
const patterns = ['examples', 'infra', 'libs', 'services', 'tests'].map((folder) => `${folder}/**/*.test.ts`);

/** The suffix of files that start their own stacks or take ten seconds of a core: longer than all others together. */
const slow = '.slow.test.ts';

/** Longer than any file takes. It turns a hang into a failure that names its file. */
const fileTimeoutMs = 600_000;

const flagsWithValue = new Set(['--test-name-pattern', '--test-skip-pattern', '--test-concurrency', '--test-timeout']);

/** Runs the files with failures once more, alone, and names those that pass then. For CI on busy machines. */
const retryFlag = '--retry-failed';

/** Arguments: the runner's own flags, and parts of file names to choose files by. */
function parse(args: readonly string[]): { flags: string[]; parts: string[] } {
  const flags: string[] = [];
  const parts: string[] = [];
  args.forEach((arg, index) => {
    const isValue = flagsWithValue.has(args[index - 1] ?? '');
    (isValue || arg.startsWith('-') ? flags : parts).push(arg);
  });
  return { flags, parts };
}

const isRetrying = process.argv.includes(retryFlag);
const args = process.argv.slice(2).filter((arg) => arg !== retryFlag);
const { flags, parts } = parse(args);
// A part of a path selects every file that contains it.
const isChosen = (file: string): boolean =>
  parts.length === 0 ? !file.endsWith(slow) : parts.some((part) => file.includes(part));
const files = globSync(patterns, { exclude: (name) => name === 'node_modules' })
  .filter(isChosen)
  .sort();
if (files.length === 0) {
  process.stderr.write(`No test file has ${parts.join(' or ')} in its path.\n`);
  process.exit(1);
}

// A run of selected tests skips the checks; use `npm run check` for them.
const isWholeRun = args.length === 0;
const checked =
  !isWholeRun ||
  (await runStage({ title: 'Check', command: process.execPath, args: [join(import.meta.dirname, 'check.ts')] }));
/** Starts the database and the bus that every file may use, and names them in TEST_DATABASE_URL and TEST_NATS_URL. */
const globalSetup = '--test-global-setup=tests/harness/global-setup.ts';
/** More than two cores can run at once, since tests mostly wait. */
const concurrency = '--test-concurrency=4';
const defaults = ['--test', concurrency, `--test-timeout=${fileTimeoutMs}`, globalSetup];
const reporters = (failed: string): string[] => [
  '--test-reporter=spec',
  '--test-reporter-destination=stdout',
  `--test-reporter=${join(import.meta.dirname, 'failed-files.ts')}`,
  `--test-reporter-destination=${failed}`,
];

async function runTests(title: string, chosen: readonly string[], more: readonly string[] = []): Promise<boolean> {
  return runStage({ title, command: process.execPath, args: [...defaults, ...flags, ...more, ...chosen] });
}

/** Runs the tests, then the files with failures once more. Returns whether each file passed. */
async function runWithRetry(): Promise<boolean> {
  const directory = mkdtempSync(join(tmpdir(), 'recordbus-tests-'));
  const failed = join(directory, 'failed');
  try {
    if (await runTests('Tests', files, reporters(failed))) return true;
    // A failed subtest has the file that declares it, often a module of scenarios: its test file has failed too.
    const listed = new Set(readFileSync(failed, 'utf8').split('\n'));
    const again = files.filter((file) => listed.has(resolve(file)));
    if (again.length === 0) return false;
    const passed = await runTests('Failed files, once more', again, ['--test-concurrency=1']);
    if (passed) process.stdout.write(`\nThese files failed at first and passed alone:\n${again.join('\n')}\n`);
    return passed;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const tested = await (isRetrying ? runWithRetry() : runTests('Tests', files));
if (!checked) process.stdout.write('\nThe check before the tests failed; see its part above.\n');
process.exitCode = checked && tested ? 0 : 1;
