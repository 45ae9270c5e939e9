import { join } from 'node:path';
import { type FileKey, isSegment } from './file-key.ts';
import { idsStartOf } from './ids-start.ts';

/** How folders are created. The mode keeps the machine's other users from listing file names. */
export const folderOptions = { recursive: true, mode: 0o700 } as const;

/** Separates a record's id from its file's name, in a folder with several records. No segment contains it. */
const idMark = '+';

const uuidV7 = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

/** Whether the collection's records that were created together share a folder, whose name is the start of their ids. */
export const sharesFolders = (collectionId: string): boolean => uuidV7.test(collectionId);

/** Where one record's files are. */
export interface Place {
  readonly folder: string;
  /** The beginning of its files' names. Empty in its own folder, where no name contains `idMark`. */
  readonly prefix: string;
}

/**
 * The places for a record's files below a local storage's directory; the first one takes new files. Records whose ids
 * were created together share a folder, so their uploads create no folder and share its flush. Before, each record had
 * a folder, as those with other ids still have, and those in other collections than the users': an operator looks for a
 * backup's archive by its id.
 */
function placesOf(directory: string, collectionId: string, recordId: string): readonly [Place, ...Place[]] {
  const own: Place = { folder: join(directory, collectionId, recordId), prefix: '' };
  if (!sharesFolders(collectionId) || !uuidV7.test(recordId)) return [own];
  const folder = join(directory, collectionId, idsStartOf(recordId));
  return [{ folder, prefix: `${recordId}${idMark}` }, own];
}

/** The places for a record's files; none when an id is not a valid segment. */
export const placesOfRecord = (directory: string, collectionId: string, recordId: string): readonly Place[] =>
  isSegment(collectionId) && isSegment(recordId) ? placesOf(directory, collectionId, recordId) : [];

/** The places where a file may be. */
export const placesOfFile = (directory: string, { segments }: FileKey): readonly Place[] =>
  placesOf(directory, segments[0], segments[1]);

/** The paths that a file may have. */
export const pathsOf = (directory: string, key: FileKey): readonly string[] =>
  placesOfFile(directory, key).map(({ folder, prefix }) => join(folder, prefix + key.segments[2]));

/** A new file's path. */
export function newPathOf(directory: string, { segments: [collectionId, recordId, name] }: FileKey): string {
  const [{ folder, prefix }] = placesOf(directory, collectionId, recordId);
  return join(folder, prefix + name);
}

/** A record's file name from its name in the folder; undefined for another record's file. */
export function nameIn({ prefix }: Place, entry: string): string | undefined {
  if (prefix === '') return entry.includes(idMark) ? undefined : entry;
  return entry.startsWith(prefix) ? entry.slice(prefix.length) : undefined;
}

/** The record and file name in a collection's folder. */
export function readEntry(folderName: string, entry: string): { readonly recordId: string; readonly name: string } {
  const at = entry.indexOf(idMark);
  return at < 0
    ? { recordId: folderName, name: entry }
    : { recordId: entry.slice(0, at), name: entry.slice(at + idMark.length) };
}
