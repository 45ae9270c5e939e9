import { join } from 'node:path';
import { type FileKey, isSegment } from './file-key.ts';
import { idsStartOf } from './ids-start.ts';

/** How folders are created. The mode keeps other users of the machine from listing the names of files. */
export const folderOptions = { recursive: true, mode: 0o700 } as const;

/** Separates the id of a record from the name of its file, in a folder of several records. No segment contains it. */
const idMark = '+';

const uuidV7 = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

/** Whether records of the collection that were created together share a folder, whose name is the start of their ids. */
export const sharesFolders = (collectionId: string): boolean => uuidV7.test(collectionId);

/** Where the files of one record are. */
export interface Place {
  readonly folder: string;
  /** The beginning of the names of its files. Empty in a folder of its own, where no name contains `idMark`. */
  readonly prefix: string;
}

/**
 * The places of a record's files below the directory of a local storage; the first one takes new files. Records whose
 * ids were created together share a folder, so their uploads create no folder and share its flush. Before, each record
 * had a folder, as those with other ids still have, and those of other collections than the users': an operator looks for
 * the archive of a backup by its id.
 */
function placesOf(directory: string, collectionId: string, recordId: string): readonly [Place, ...Place[]] {
  const own: Place = { folder: join(directory, collectionId, recordId), prefix: '' };
  if (!sharesFolders(collectionId) || !uuidV7.test(recordId)) return [own];
  const folder = join(directory, collectionId, idsStartOf(recordId));
  return [{ folder, prefix: `${recordId}${idMark}` }, own];
}

/** The places of a record's files; none when an id is not a valid segment. */
export const placesOfRecord = (directory: string, collectionId: string, recordId: string): readonly Place[] =>
  isSegment(collectionId) && isSegment(recordId) ? placesOf(directory, collectionId, recordId) : [];

/** The places where a file may be. */
export const placesOfFile = (directory: string, { segments }: FileKey): readonly Place[] =>
  placesOf(directory, segments[0], segments[1]);

/** The paths that a file may have. */
export const pathsOf = (directory: string, key: FileKey): readonly string[] =>
  placesOfFile(directory, key).map(({ folder, prefix }) => join(folder, prefix + key.segments[2]));

/** The path of a new file. */
export function newPathOf(directory: string, { segments: [collectionId, recordId, name] }: FileKey): string {
  const [{ folder, prefix }] = placesOf(directory, collectionId, recordId);
  return join(folder, prefix + name);
}

/** The name of a record's file from its name in the folder; undefined for a file of another record. */
export function nameIn({ prefix }: Place, entry: string): string | undefined {
  if (prefix === '') return entry.includes(idMark) ? undefined : entry;
  return entry.startsWith(prefix) ? entry.slice(prefix.length) : undefined;
}

/** The record and the name of a file in a folder of a collection. */
export function readEntry(folderName: string, entry: string): { readonly recordId: string; readonly name: string } {
  const at = entry.indexOf(idMark);
  return at < 0
    ? { recordId: folderName, name: entry }
    : { recordId: entry.slice(0, at), name: entry.slice(at + idMark.length) };
}
