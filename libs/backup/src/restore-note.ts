import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

/**
 * A restore that was ordered through the API (operation §9.7). The records service checks the archive, then the process
 * that runs the stack stops it, restores and starts it again. Both write this note, one after the other, since the
 * database is replaced meanwhile.
 */
export const restoreNote = z
  .object({
    id: z.string(),
    state: z
      .enum(['checking', 'waiting', 'restoring', 'done', 'failed'])
      .describe('`waiting`: checked, and the stack is about to stop'),
    file: z.string().describe("the archive's name"),
    message: z.string().nullable().describe('the result, or why it failed'),
    changed_at: z.int().describe('unix seconds'),
  })
  .meta({ id: 'Restore' });

export type RestoreNote = z.output<typeof restoreNote>;

const noteOf = (directory: string): string => join(directory, 'restore.json');

/** The checked copy of the archive, on the disk of the process that restores it. */
export const archiveToRestore = (directory: string): string => join(directory, 'archive.tar.gz');

/** Whether a restore is not over. */
export const isUnderWay = (note: RestoreNote | undefined): note is RestoreNote =>
  note !== undefined && note.state !== 'done' && note.state !== 'failed';

/** Reads a directory's note; undefined without one. */
export function findRestoreNote(directory: string): RestoreNote | undefined {
  try {
    return restoreNote.safeParse(JSON.parse(readFileSync(noteOf(directory), 'utf8'))).data;
  } catch {
    return undefined;
  }
}

/** Replaces a directory's note. */
export function writeRestoreNote(directory: string, note: Omit<RestoreNote, 'changed_at'>): RestoreNote {
  const written = { ...note, changed_at: Math.floor(Date.now() / 1000) };
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const draft = `${noteOf(directory)}.new`;
  writeFileSync(draft, JSON.stringify(written), { mode: 0o600 });
  renameSync(draft, noteOf(directory));
  return written;
}

/** Notes how a restore ended, and removes its copy of the archive. */
export function endRestore(directory: string, note: RestoreNote, state: 'done' | 'failed', message: string): void {
  rmSync(archiveToRestore(directory), { force: true });
  writeRestoreNote(directory, { ...note, state, message });
}
