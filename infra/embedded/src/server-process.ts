import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { StartFailure } from '@recordbus/process/start-failure';
import { findProcess, isRunning, type ProcessIdentity, parseIdentity } from './process-identity.ts';
import { until } from './until.ts';

/** A signal, and how long the server may take to end before the next one is sent. */
export interface StopStep {
  readonly signal: NodeJS.Signals;
  readonly withinMs: number;
}

interface ServerCommand {
  /** The name in sentences and the log. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly uid?: number | undefined;
  readonly gid?: number | undefined;
  /** Holds the server's log and its process's note. */
  readonly directory: string;
  readonly stopSteps: readonly StopStep[];
}

export interface ServerProcess {
  readonly pid: number;
  /** Resolves with a sentence when the server ends without a stop; otherwise never. */
  readonly exited: Promise<string>;
  /** Stops the server with one signal after another, and waits until it has ended. */
  stop(): Promise<void>;
  /** Waits for the probe's result. Throws with the server's last lines when it ends or is not ready in time. */
  ready<T>(probe: () => Promise<T | undefined>, timeoutMs: number): Promise<T>;
}

const maxLogBytes = 5 * 1024 * 1024;
const quotedLines = 8;

/** The process that runs or last ran a directory's server. */
const noteFile = (directory: string): string => join(directory, 'process.json');

/**
 * Starts a server in its own process group: Ctrl-C at a terminal is for the services, which still need their database
 * while they finish. Its output is written to a file, so it does not depend on this process.
 */
export async function spawnServer(server: ServerCommand): Promise<ServerProcess> {
  const { name, directory, stopSteps } = server;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const logFile = await rotateLog(directory, name);
  const logStartBytes = (await stat(logFile).catch(() => undefined))?.size ?? 0;
  const output = await open(logFile, 'a', 0o600);
  const { pid, ended } = spawnDetached(server, output.fd);
  const identity = findProcess(pid);
  // In the same event loop turn, so that the next process finds the server however this one ends.
  if (identity) writeFileSync(noteFile(directory), JSON.stringify(identity), { mode: 0o600 });
  if (identity) stopWithThisProcess(identity, stopSteps, ended);
  await output.close();

  let stopping: Promise<void> | undefined;
  const exited = Promise.withResolvers<string>();
  void ended.then(async (how) => {
    if (!stopping) exited.resolve(`${name} ${how}. ${await lastLines(logFile, logStartBytes)}`);
  });

  async function stop(): Promise<void> {
    if (identity) await stopProcess(identity, stopSteps);
    await ended;
    await rm(noteFile(directory), { force: true });
  }

  const stopOnce = (): Promise<void> => {
    stopping ??= stop();
    return stopping;
  };

  return {
    pid,
    exited: exited.promise,
    stop: stopOnce,
    async ready(probe, timeoutMs) {
      const answer = await unlessExited(exited.promise, probe, timeoutMs);
      if (answer !== undefined) return answer;
      await stopOnce();
      throw new StartFailure(
        `${name} was not ready after ${timeoutMs / 1000} s. ${await lastLines(logFile, logStartBytes)}`,
      );
    },
  };
}

/** Spawns the server with its output in an open file. `ended` resolves with how it ended, or why it did not start. */
function spawnDetached({ command, args, environment, uid, gid }: ServerCommand, outputFd: number) {
  const child = spawn(command, args, {
    // Every user can enter this directory, and it keeps no mount busy.
    cwd: '/',
    detached: true,
    env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC', ...environment },
    stdio: ['ignore', outputFd, outputFd],
    ...(uid !== undefined && { uid, gid }),
  });
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(`could not be run: ${error.message}`));
    child.once('exit', (code, signal) => resolve(signal ? `was ended by ${signal}` : `ended with exit code ${code}`));
  });
  return { pid: child.pid ?? 0, ended };
}

/** Sends the server its first signal when this process ends before it does. */
function stopWithThisProcess(identity: ProcessIdentity, [first]: readonly StopStep[], ended: Promise<string>): void {
  const leaveNothing = (): void => {
    if (first && isRunning(identity)) process.kill(identity.pid, first.signal);
  };
  process.once('exit', leaveNothing);
  void ended.then(() => process.off('exit', leaveNothing));
}

/** Waits for the probe's answer; undefined when it does not come in time. Throws an exit's sentence. */
function unlessExited<T>(
  exited: Promise<string>,
  probe: () => Promise<T | undefined>,
  timeoutMs: number,
): Promise<T | undefined> {
  let failure: string | undefined;
  void exited.then((sentence) => {
    failure = sentence;
  });
  return until(timeoutMs, async () => {
    if (failure !== undefined) throw new StartFailure(failure);
    return probe();
  });
}

/** Stops the server that a killed stack left behind in a directory. Returns its pid, if there was one. */
export async function stopLeftover(directory: string, steps: readonly StopStep[]): Promise<number | undefined> {
  const note = await readFile(noteFile(directory), 'utf8').catch(() => '');
  const identity = parseIdentity(note);
  if (!identity || !isRunning(identity)) return undefined;
  await stopProcess(identity, steps);
  return identity.pid;
}

/** Ends a process with one signal after another. Throws when even the last one does not end it. */
export async function stopProcess(identity: ProcessIdentity, steps: readonly StopStep[]): Promise<void> {
  for (const { signal, withinMs } of steps) {
    if (!isRunning(identity)) return;
    try {
      process.kill(identity.pid, signal);
    } catch {
      // It ended before the signal was sent.
      return;
    }
    if (await until(withinMs, async () => !isRunning(identity) || undefined)) return;
  }
  throw new Error(`Process ${identity.pid} does not end, not even by ${steps.at(-1)?.signal}.`);
}

async function rotateLog(directory: string, name: string): Promise<string> {
  const file = join(directory, `${name.toLowerCase()}.log`);
  const size = (await stat(file).catch(() => undefined))?.size ?? 0;
  if (size > maxLogBytes) await rename(file, `${file}.1`);
  return file;
}

async function lastLines(file: string, fromBytes: number): Promise<string> {
  const bytes = await readFile(file).catch(() => Buffer.alloc(0));
  const text = bytes.subarray(fromBytes).toString('utf8').trim();
  const lines = text ? text.split('\n').slice(-quotedLines) : [];
  return lines.length === 0 ? `It wrote nothing to ${file}.` : `The last lines of ${file}:\n  ${lines.join('\n  ')}`;
}
