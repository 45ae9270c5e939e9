import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type EventData, type RunOptions, run } from 'node:test';
import { spec } from 'node:test/reporters';
import { endHungFiles } from './end-hung-files.ts';
import processorTime from './processor-time.ts';

/** The files that this program runs, as JSON in its argument. */
export interface FilesRun {
  /** They start in this order: `node --test` would sort them. */
  readonly files: readonly string[];
  /** How many run at once. */
  readonly concurrency: number;
  /** How long a test may take, in milliseconds. A file may take a minute more. */
  readonly timeout: number;
  readonly testNamePatterns: readonly string[];
  readonly testSkipPatterns: readonly string[];
  /** Whether to print what each file costs; only for files that run alone is it known what they cost shared servers. */
  readonly showsProcessorTime: boolean;
  /** Where to write the failed files, as a JSON array. */
  readonly failedList: string;
}

const { showsProcessorTime, failedList, testNamePatterns, testSkipPatterns, ...rest }: FilesRun = JSON.parse(
  process.argv[2] ?? '',
);
// Aborted, the run ends its files' processes and its servers.
const end = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => end.abort());
// @types/node lacks the path.
const options: RunOptions & { readonly globalSetupPath: string } = {
  ...rest,
  testNamePatterns: [...testNamePatterns],
  testSkipPatterns: [...testSkipPatterns],
  signal: end.signal,
  execArgv: ['--import', join(import.meta.dirname, 'end-open-files.ts')],
  // Starts the database and the bus that every file may use, and names them in TEST_DATABASE_URL and TEST_NATS_URL.
  globalSetupPath: join(import.meta.dirname, '../../tests/harness/stacks/global-setup.ts'),
};
endHungFiles(rest.files, rest.timeout + 60_000, (file) => {
  process.stderr.write(`${file} was killed: it did not end.\n`);
});
const events = run(options);
const failed = new Set<string>();
// A test that a helper defines has the helper's path in `file`, and its own file's in `entryFile`.
events.on('test:fail', ({ entryFile, file, todo }: EventData.TestFail & { readonly entryFile?: string }) => {
  const path = entryFile ?? file;
  if (todo === undefined && path !== undefined) failed.add(path);
});
events.on('test:summary', ({ file, success }) => {
  if (file !== undefined || success) return;
  process.exitCode = 1;
  writeFileSync(failedList, JSON.stringify([...failed]));
});
events.compose(new spec()).pipe(process.stdout);
if (showsProcessorTime) events.compose(processorTime).pipe(process.stdout);
