import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A running stack's addresses, for tools on this machine. */
export interface StackNote {
  /** The gateway's address. */
  readonly url: string;
  readonly pid: number;
  /** The token that creates the first admin; absent once an admin exists. */
  readonly setupToken?: string | undefined;
  /** The embedded servers' URLs, with their passwords; absent for servers that the configuration names. */
  readonly databaseUrl?: string | undefined;
  readonly natsUrl?: string | undefined;
}

const fileOf = (dataDirectory: string): string => join(dataDirectory, 'stack.json');

/**
 * Writes `stack.json` into the data directory. Only its owner can read it, since it holds secrets. Returns a function
 * that removes it.
 */
export async function writeStackNote(
  dataDirectory: string,
  note: Omit<StackNote, 'pid'>,
): Promise<{ remove(): Promise<void> }> {
  const file = fileOf(dataDirectory);
  const draft = `${file}.new`;
  await writeFile(draft, `${JSON.stringify({ ...note, pid: process.pid })}\n`, { mode: 0o600 });
  await rename(draft, file);
  return { remove: () => rm(file, { force: true }) };
}

/** Reads the note that the process with this pid has written; undefined while there is none. */
export async function findStackNote(dataDirectory: string, pid: number): Promise<StackNote | undefined> {
  try {
    const note: StackNote = JSON.parse(await readFile(fileOf(dataDirectory), 'utf8'));
    return note.pid === pid ? note : undefined;
  } catch {
    return undefined;
  }
}
