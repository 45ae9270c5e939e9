import type { Collection } from '@recordbus/schema';
import { fileFieldsOf } from '../../files/file-changes.ts';
import type { Upload } from '../../files/upload-parts.ts';
import type { Body } from './import-row.ts';

/**
 * The files that a row names, as an upload whose bytes arrive later (files §3.9). `stored` are the names that the record
 * has.
 */
export function namedFiles(
  collection: Collection,
  recordId: string,
  body: Body,
  stored: ReadonlySet<string> = new Set(),
): Upload {
  const files = fileFieldsOf(collection).flatMap(({ name }): [string, string[]][] => {
    const given: unknown[] = [body[name] ?? []].flat();
    const added = given.filter((file): file is string => typeof file === 'string' && !stored.has(file));
    return added.length > 0 ? [[name, added]] : [];
  });
  return { collectionId: collection.id, recordId, body, files: new Map(files), announced: [] };
}
