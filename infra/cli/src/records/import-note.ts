import { readFile, rm, stat } from 'node:fs/promises';
import { writeFileAtomically } from '../write-file-atomically.ts';

/** A file's import in progress. The note is next to the file, so that a later command finds the job. */
export interface ImportNote {
  readonly about: string;
  readonly url: string;
  readonly collection: string;
  readonly parameters: Readonly<Record<string, string>>;
  /** The file's size in bytes, and when it last changed, in milliseconds. */
  readonly size: number;
  readonly changed: number;
  /** The request's idempotency key, so that a repeated request creates no second job. */
  readonly key: string;
  /** The job's id, once the request was answered. */
  readonly job?: string;
}

/** The members that identify an import. */
export type NotedImport = Pick<ImportNote, 'url' | 'collection' | 'parameters'>;

/** Keeps a file's note. */
export interface NoteFile {
  /** Returns the note from the same import for the same file; undefined without one. */
  find(): Promise<ImportNote | undefined>;
  /** Writes the note when an import begins, and again when it has a job. */
  write(progress: Pick<ImportNote, 'key' | 'job'>): Promise<void>;
  remove(): Promise<void>;
}

const about =
  'An import of this file is in progress. The same command continues it. If you delete this file, the import starts over.';

/** Opens the note for a file's import. */
export async function openNote(file: string, noted: NotedImport): Promise<NoteFile> {
  const { size, mtimeMs } = await stat(file);
  const place = `${file}.import`;
  const same = { about, ...noted, size, changed: Math.floor(mtimeMs) };
  const shape = JSON.stringify(same);
  return {
    async find() {
      try {
        const { key, job, ...rest }: ImportNote = JSON.parse(await readFile(place, 'utf8'));
        return JSON.stringify(rest) === shape ? { ...rest, key, ...(job !== undefined && { job }) } : undefined;
      } catch {
        return undefined;
      }
    },
    write: (progress) => writeFileAtomically(place, `${JSON.stringify({ ...same, ...progress }, undefined, 2)}\n`),
    remove: () => rm(place, { force: true }),
  };
}

/** The note for standard input, which cannot be read again. */
export const noNote: NoteFile = {
  find: async () => undefined,
  write: async () => {},
  remove: async () => {},
};
