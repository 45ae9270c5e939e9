import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { gatherUnits } from './gather-units.ts';
import { nameNatsServer } from './name-nats-server.ts';
import type { FilesRun } from './run-files.ts';
import { runStage } from './run-stage.ts';
import { type Part, readTestRun } from './test-run.ts';

/** More failed files than chance explains: they do not run again. */
const maximumRetried = 5;

/** Longer than any file takes. It turns a hang into a failure that names its test. */
const testTimeoutMs = 600_000;

const run = readTestRun(process.argv.slice(2));
if (run.parts.length === 0) {
  process.stderr.write(`No test file has ${run.selectors.join(' or ')} in its path.\n`);
  process.exit(1);
}

/** Files that failed, and passed when they ran once more. */
const passedLater: string[] = [];

async function runPart({ title, files, topology, environment, concurrency, gathersUnits }: Part): Promise<boolean> {
  const directory = mkdtempSync(join(tmpdir(), 'recordbus-tests-'));
  const failedList = join(directory, 'failed.json');
  const { testNamePatterns, testSkipPatterns, showsProcessorTime } = run;
  const filesRun: FilesRun = {
    // What a file costs shows only in a process of its own.
    files: gathersUnits && !showsProcessorTime ? gatherUnits(files, directory) : files,
    concurrency: showsProcessorTime ? 1 : (run.concurrency ?? concurrency),
    timeout: run.timeoutMs ?? testTimeoutMs,
    testNamePatterns,
    testSkipPatterns,
    showsProcessorTime,
    failedList,
  };
  const variables = {
    ...(topology && { TEST_TOPOLOGY: topology }),
    ...(run.from !== undefined && { TEST_UPGRADE_FROM: run.from }),
    ...environment,
  };
  const runStageOf = (stageTitle: string, changes: Partial<FilesRun>): Promise<boolean> => {
    const args = [join(import.meta.dirname, 'run-files.ts'), JSON.stringify({ ...filesRun, ...changes })];
    return runStage({ title: stageTitle, command: process.execPath, args, environment: variables });
  };
  try {
    if (await runStageOf(title, {})) return true;
    const failed: readonly string[] = existsSync(failedList) ? JSON.parse(readFileSync(failedList, 'utf8')) : [];
    if (!run.retriesFailed || failed.length === 0 || failed.length > maximumRetried) return false;
    if (!(await runStageOf(`${title}: failed files once more, alone`, { files: failed, concurrency: 1 }))) return false;
    passedLater.push(...failed.map((file) => relative(process.cwd(), file)));
    return true;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

if (process.env.TEST_STACK !== 'containers') await nameNatsServer();
// A run with selected tests skips the checks; use `npm run check` for them.
const check = [join(import.meta.dirname, 'check.ts')];
const checked = !run.isChecked || (await runStage({ title: 'Check', command: process.execPath, args: check }));
let tested = true;
for (const part of run.parts) tested = (await runPart(part)) && tested;
if (!checked) process.stdout.write('\nThe check before the tests failed; see its part above.\n');
if (passedLater.length > 0)
  process.stdout.write(`\nThese files failed, and passed alone. Each is a bug to fix:\n${passedLater.join('\n')}\n`);
process.exitCode = checked && tested ? 0 : 1;
