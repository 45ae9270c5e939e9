import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '@recordbus/shared/config';
import { findProcess, isRunning, parseIdentity } from './process-identity.ts';

interface DataDirectoryLock {
  /** Lets another in. Never throws when the directory is gone. */
  release(): Promise<void>;
}

/** Who has claimed a data directory. */
interface Holder {
  readonly pid: number;
  /** The command that works on it; undefined when it is a stack. */
  readonly command: string | undefined;
}

const fileOf = async (directory: string): Promise<string> => join(await realpath(directory), 'stack.lock');

/**
 * Claims a data directory for this process and makes it when it is missing. The lock of a process that is no more is
 * taken over. Throws a sentence with the other's pid when a stack runs there, or a command works on it.
 */
export async function lockDataDirectory(directory: string, command?: string): Promise<DataDirectoryLock> {
  await mkdir(directory, { recursive: true, mode: isRoot() ? 0o711 : 0o700 });
  const file = await fileOf(directory);
  const self = findProcess(process.pid);
  // The id tells two claims of one process apart, which a test or a bench may make.
  const claim = JSON.stringify({ ...self, id: randomUUID(), command });
  for (;;) {
    if (await placeClaim(file, claim)) return { release: () => release(file, claim) };
    const held = await readText(file);
    if (held === undefined) continue;
    const holder = parseHolder(held);
    if (holder) throw new ConfigError(occupied(directory, holder));
    await removeClaim(file, held);
  }
}

/** Who has claimed a data directory; undefined when nobody has, or whoever had is no more. */
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

/** A database that must not be root's has to walk through the directory to its own. */
const isRoot = (): boolean => process.getuid?.() === 0;

const occupied = (directory: string, { pid, command }: Holder): string =>
  command
    ? `The command ${command} (process ${pid}) is working on the data directory ${directory}: wait until it is done.`
    : `Another stack (process ${pid}) is running on the data directory ${directory}: stop it first, or set SERVICE_DATA_DIR to another directory.`;

/** A link appears with its content or not at all, so nobody reads half a claim. */
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

/** Moves the claim aside and looks again: between reading and removing, another process may have put its own there. */
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

async function readText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;
