import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { findNatsBinary } from '@recordbus/embedded';
import { createLogger } from '@recordbus/process/logging';
import { gatherUnits } from './gather-units.ts';
import type { FilesRun } from './run-files.ts';
import { runStage } from './run-stage.ts';
import { type Part, readTestRun } from './test-run.ts';

/** Longer than any file takes. It turns a hang into a failure that names its file. */
const fileTimeoutMs = 600_000;

const run = readTestRun(process.argv.slice(2));
if (run.parts.length === 0) {
  process.stderr.write(`No test file has ${run.selectors.join(' or ')} in its path.\n`);
  process.exit(1);
}

async function runPart({ title, files, topology, environment, concurrency, gathersUnits }: Part): Promise<boolean> {
  const directory = mkdtempSync(join(tmpdir(), 'recordbus-unit-tests-'));
  const { testNamePatterns, testSkipPatterns, showsProcessorTime } = run;
  const filesRun: FilesRun = {
    // What a file costs shows only in a process of its own.
    files: gathersUnits && !showsProcessorTime ? gatherUnits(files, directory) : files,
    concurrency: showsProcessorTime ? 1 : (run.concurrency ?? concurrency),
    timeout: run.timeoutMs ?? fileTimeoutMs,
    testNamePatterns,
    testSkipPatterns,
    showsProcessorTime,
  };
  const args = [join(import.meta.dirname, 'run-files.ts'), JSON.stringify(filesRun)];
  const variables = {
    ...(topology && { TEST_TOPOLOGY: topology }),
    ...(run.from !== undefined && { TEST_UPGRADE_FROM: run.from }),
    ...environment,
  };
  try {
    return await runStage({ title, command: process.execPath, args, environment: variables });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
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
