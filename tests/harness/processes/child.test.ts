import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventually } from '../eventually.ts';
import { endChild, startChild } from './child.ts';
import { listProcesses } from './processes.ts';

const isRunning = (pid: number): boolean => listProcesses().some((listed) => listed.pid === pid);

const endless = 'trap "" TERM INT HUP; while :; do sleep 1; done';

/** A test file that starts an endless process, prints its pid, and is then ended. */
const source = (module: string, isGroup: boolean) => `
  import { startChild } from '${module}';
  const commands = '${isGroup ? `(${endless}) & echo $!; wait` : `echo $$; ${endless}`}';
  startChild('sh', ['-c', commands], { detached: ${isGroup} }).onLine((pid) => console.log(pid));
`;

for (const signal of ['SIGTERM', 'SIGKILL'] as const)
  for (const isGroup of [false, true])
    test(`${isGroup ? 'a group of processes' : 'a process'} that a test started ends when ${signal} ends the test`, async () => {
      const module = fileURLToPath(new URL('child.ts', import.meta.url));
      const file = startChild(process.execPath, ['--input-type=module-typescript', '--eval', source(module, isGroup)]);
      const pid = Number(await eventually('the process runs', () => file.lines[0]));
      assert.ok(isRunning(pid));
      await endChild(file, signal);
      await eventually('the process has ended', () => !isRunning(pid));
    });
