import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { endChild, startChild } from './child.ts';
import { eventually } from './eventually.ts';
import { listProcesses } from './processes.ts';

const isRunning = (pid: number): boolean => listProcesses().some((listed) => listed.pid === pid);

/** A test file that is ended after it started a process that does not end by itself. */
const source = (module: string) => `
  import { startChild } from '${module}';
  const child = startChild('sh', ['-c', 'trap "" TERM INT HUP; while :; do sleep 1; done']);
  console.log(child.pid);
`;

for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
  test(`a process that a test started ends when ${signal} ends the test`, async () => {
    const module = fileURLToPath(new URL('child.ts', import.meta.url));
    const file = startChild(process.execPath, ['--input-type=module-typescript', '--eval', source(module)]);
    const pid = Number(await eventually('the process runs', () => file.lines[0]));
    assert.ok(isRunning(pid));
    await endChild(file, signal);
    await eventually('the process has ended', () => !isRunning(pid));
  });
}
