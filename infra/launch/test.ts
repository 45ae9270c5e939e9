import { globSync } from 'node:fs';
import { join } from 'node:path';
import { runStage } from './run-stage.ts';

/** The runner sorts the files: tests beside the code run before the black-box suite in `tests`. */
const patterns = ['examples', 'infra', 'libs', 'services', 'tests'].map((folder) => `${folder}/**/*.test.ts`);

/** The suffix of files that start their own stacks or take ten seconds of a core: longer than all others together. */
const slow = '.slow.test.ts';

/** Longer than any file takes. It turns a hang into a failure that names its file. */
const fileTimeoutMs = 300_000;

const flagsWithValue = new Set(['--test-name-pattern', '--test-skip-pattern', '--test-concurrency', '--test-timeout']);

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

const { flags, parts } = parse(process.argv.slice(2));
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
const isWholeRun = process.argv.length === 2;
const checked =
  !isWholeRun ||
  (await runStage({ title: 'Check', command: process.execPath, args: [join(import.meta.dirname, 'check.ts')] }));
/** Starts the database and the bus that every file may use, and names them in TEST_DATABASE_URL and TEST_NATS_URL. */
const globalSetup = '--test-global-setup=tests/harness/global-setup.ts';
/** More than two cores can run at once, since tests mostly wait. */
const concurrency = '--test-concurrency=4';
const defaults = ['--test', concurrency, `--test-timeout=${fileTimeoutMs}`, globalSetup];
const tested = await runStage({ title: 'Tests', command: process.execPath, args: [...defaults, ...flags, ...files] });
if (!checked) process.stdout.write('\nThe checks before the tests failed; see above.\n');
process.exitCode = checked && tested ? 0 : 1;
