import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { archiveToRestore, endRestore, findRestoreNote, writeRestoreNote } from '@recordbus/backup/restore-note';
import { z } from 'zod';

const tether = fileURLToPath(new URL('../../launch/tether.cjs', import.meta.url));

/** Names the process that waits for this one's exit code, if there is one. */
const restarted = 'RECORDBUS_RESTARTED';
/** Exit code of a restarted stack for which a restore is due (sysexits.h, EX_TEMPFAIL). */
const restoreExitCode = 75;

interface Restart {
  /** The restore directory. */
  readonly directory: string;
  /** The gateway's address, which stays, so that open pages find the stack again. */
  readonly url: string;
}

/**
 * Runs the command line's restore after the stack has stopped, then starts the stack again as a child of this process
 * and ends with it. A signal goes to whichever runs.
 */
export async function restoreAndRestart({ directory, url }: Restart): Promise<void> {
  // The waiting process repeats this loop, so no second one is needed.
  if (process.env[restarted] !== undefined) process.exit(restoreExitCode);
  let running: ChildProcess | undefined;
  let stoppedBy: NodeJS.Signals | undefined;
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.removeAllListeners(signal);
    process.on(signal, () => {
      stoppedBy = signal;
      running?.kill(signal);
    });
  }
  const run = (child: ChildProcess): ChildProcess => {
    running = child;
    return child;
  };
  for (;;) {
    await restore(directory, run);
    if (stoppedBy) process.exit(0);
    const [code, signal] = await once(run(startStack(url)), 'exit');
    if (code !== restoreExitCode || stoppedBy)
      process.exit(code ?? 128 + (constants.signals[signal as 'SIGTERM'] ?? 0));
  }
}

/** Restores what the directory's note names, and notes the result. */
async function restore(directory: string, run: (child: ChildProcess) => ChildProcess): Promise<void> {
  const note = findRestoreNote(directory);
  if (!note) return;
  writeRestoreNote(directory, { ...note, state: 'restoring' });
  process.stderr.write(`Restoring ${note.file}…\n`);
  const args = ['backup', 'restore', archiveToRestore(directory), '--force', '--no-secret', '--json'];
  const child = run(spawn(process.execPath, ['--require', tether, commandLine(), ...args], asChild('pipe')));
  const [stdout, stderr, [code]] = await Promise.all([
    child.stdout ? text(child.stdout) : '',
    child.stderr ? text(child.stderr) : '',
    once(child, 'close'),
  ]);
  const message = code === 0 ? doneMessage(stdout) : failedMessage(stderr);
  process.stderr.write(`${message}\n`);
  endRestore(directory, note, code === 0 ? 'done' : 'failed', message);
}

/** The command line has the same place and ending as this process's own file. */
function commandLine(): string {
  const own = process.argv[1] ?? '';
  return join(dirname(own), '../../cli/src', basename(own));
}

const startStack = (url: string): ChildProcess => {
  const child = spawn(process.execPath, ['--require', tether, ...process.argv.slice(1)], {
    ...asChild('inherit'),
    env: { ...process.env, SERVICE_PORT: new URL(url).port, [restarted]: String(process.pid) },
  });
  child.on('message', (message) => process.send?.(message));
  return child;
};

/** In its own session, so that a terminal's Ctrl-C reaches only this process. */
const asChild = (output: 'pipe' | 'inherit') => ({
  detached: true,
  stdio: ['ignore' as const, output, output, 'ipc' as const],
});

const result = z.object({ created_at: z.string(), rows: z.number(), files: z.number() });
const refusal = z.object({ error: z.string(), code: z.string() });

function doneMessage(stdout: string): string {
  const { created_at, rows, files } = result.parse(lastLine(stdout));
  return `Restored ${rows} rows and ${files} files as of ${created_at}.`;
}

/** A refusal changes nothing. After another end, the command may already have replaced the data. */
function failedMessage(stderr: string): string {
  const read = refusal.safeParse(lastLine(stderr));
  if (read.data?.code === 'refused') return `Nothing has changed. ${read.data.error}`;
  if (stderr === '' || read.data?.code === 'stopped')
    return 'The restore was stopped before it was done: look at the data, and restore again.';
  process.stderr.write(stderr);
  return "The restore failed: the stack's output has the reason. Look at the data before you go on.";
}

function lastLine(output: string): unknown {
  try {
    return JSON.parse(output.trim().split('\n').at(-1) ?? '');
  } catch {
    return undefined;
  }
}
