import { randomUUID } from 'node:crypto';
import { link, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ConfigError, dataDirectory } from '@recordbus/process/config';
import { makeDirectory, unusablePath } from '@recordbus/process/directory';
import { hasCode, unlessMissing } from '@recordbus/process/system-error';
import { findProcess, isRunning, parseIdentity } from './process-identity.ts';
import { findStackNote } from './stack-note.ts';

interface DataDirectoryLock {
  /**
   * Whether the previous holder died without a release, so that its port and files may take a moment to become free.
   */
  readonly isTakenOver: boolean;
  /** Releases the directory. Does not throw when it no longer exists. */
  release(): Promise<void>;
}

/** A data directory's holder. */
interface Holder {
  readonly pid: number;
  /** The command that works on it; undefined for a stack. */
  readonly command: string | undefined;
}

const fileOf = async (directory: string): Promise<string> => join(await realpath(directory), 'stack.lock');

interface ClaimOptions {
  /** The command that works on the directory; undefined for a stack. */
  readonly command?: string | undefined;
  /** How long to wait for a stack without a note, which is starting or stopping, in milliseconds. */
  readonly waitMs?: number;
}

const pollMs = 50;

/**
 * Claims a data directory for this process; creates it when it is missing. Takes over a dead process's lock. Throws
 * ConfigError for an unusable directory, and with the other pid when a stack or a command uses it.
 */
export async function lockDataDirectory(directory: string, options: ClaimOptions = {}): Promise<DataDirectoryLock> {
  try {
    makeDirectory(resolve(directory), isRoot() ? 0o711 : 0o700);
    return await claimDirectory(directory, options);
  } catch (error) {
    throw unusablePath(dataDirectory.name, directory, error);
  }
}

async function claimDirectory(directory: string, { command, waitMs = 0 }: ClaimOptions): Promise<DataDirectoryLock> {
  const file = await fileOf(directory);
  const self = findProcess(process.pid);
  // The id distinguishes one process's two claims, which tests and benchmarks make.
  const claim = JSON.stringify({ ...self, id: randomUUID(), command });
  const deadlineMs = performance.now() + waitMs;
  let isTakenOver = false;
  for (;;) {
    if (await placeClaim(file, claim)) return { isTakenOver, release: () => release(file, claim) };
    const held = await readText(file);
    if (held === undefined) continue;
    isTakenOver = true;
    const holder = parseHolder(held);
    if (!holder) await removeClaim(file, held);
    else if (performance.now() < deadlineMs && (await mayEndSoon(directory, holder))) await delay(pollMs);
    else throw new ConfigError(occupied(directory, holder));
  }
}

/** A stack has a note while it answers; without one it is starting or stopping. */
const mayEndSoon = async (directory: string, { pid, command }: Holder): Promise<boolean> =>
  command === undefined && (await findStackNote(directory, pid)) === undefined;

/** Finds a data directory's holder; undefined when there is none or it has died. */
export async function findHolder(directory: string): Promise<Holder | undefined> {
  const file = await fileOf(directory).catch(() => undefined);
  return parseHolder((file && (await readText(file))) ?? '');
}

function parseHolder(claim: string): Holder | undefined {
  const identity = parseIdentity(claim);
  if (!identity || !isRunning(identity)) return undefined;
  const { command }: { command?: string } = JSON.parse(claim);
  return { pid: identity.pid, command };
}

/** Lets other users traverse the directory: the database does not run as root. */
const isRoot = (): boolean => process.getuid?.() === 0;

const occupied = (directory: string, { pid, command }: Holder): string =>
  command
    ? `The command ${command} (process ${pid}) is working on the data directory ${directory}: wait until it is done.`
    : `Another stack (process ${pid}) is running on the data directory ${directory}: stop it first, or set SERVICE_DATA_DIR to another directory.`;

/** Writes a claim by a link, which appears with its full content or not at all. */
async function placeClaim(file: string, claim: string): Promise<boolean> {
  const draft = `${file}.${randomUUID()}`;
  await writeFile(draft, claim, { mode: 0o600 });
  try {
    await link(draft, file);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/** Moves the claim aside and checks it again: another process may have replaced it after it was read. */
async function removeClaim(file: string, claim: string): Promise<void> {
  const aside = `${file}.${randomUUID()}`;
  try {
    await rename(file, aside);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return;
    throw error;
  }
  if ((await readText(aside)) !== claim) await link(aside, file);
  await rm(aside, { force: true });
}

async function release(file: string, claim: string): Promise<void> {
  if ((await readText(file)) === claim) await rm(file, { force: true });
}

const readText = (file: string): Promise<string | undefined> => unlessMissing(readFile(file, 'utf8'));
