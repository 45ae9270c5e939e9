import { readFile, rm, stat } from 'node:fs/promises';
import { writeFileAtomically } from '../write-file-atomically.ts';

/** Which import of a file is in progress. It is next to the file, so that a later command finds the job. */
export interface ImportNote {
  readonly about: string;
  readonly url: string;
  readonly collection: string;
  readonly parameters: Readonly<Record<string, string>>;
  /** The file as it was: bytes, and milliseconds of its last change. */
  readonly size: number;
  readonly changed: number;
  /** The idempotency key of the request: sent again, it makes no second job. */
  readonly key: string;
  /** The id of the job, once the request was answered. */
  readonly job?: string;
}

/** An import, apart from what its note adds. */
export type NotedImport = Pick<ImportNote, 'url' | 'collection' | 'parameters'>;

/** Keeps the note of a file. */
export interface NoteFile {
  /** Returns the note of the same import of the same file; undefined without one. */
  find(): Promise<ImportNote | undefined>;
  /** Writes the note of an import that begins, or that has a job now. */
  write(progress: Pick<ImportNote, 'key' | 'job'>): Promise<void>;
  remove(): Promise<void>;
}

const about =
  'An import of this file is in progress: the same command continues it. Without this file it begins again.';

/** Opens the note of an import of a file. */
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

/** The note of standard input, which cannot be read again. */
export const noNote: NoteFile = {
  find: async () => undefined,
  write: async () => {},
  remove: async () => {},
};
