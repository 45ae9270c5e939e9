import { isDeepStrictEqual } from 'node:util';
import type { RequestContext } from '@recordbus/request/context';
import type { Collection, ColumnValues, FieldEncryption, RecordReader } from '@recordbus/schema';
import { dropNamed } from '../files/announced-files.ts';
import { fileChangeOf, fileFieldsOf, fileNamesIn, refuseUnknownNames } from '../files/file-changes.ts';
import { readStored, type StoredRecord } from '../read/read-stored.ts';
import type { BeforeWrite } from '../write/write-hooks.ts';
import type { WriteUnit } from '../write/write-unit.ts';
import type { RestoredField } from './snapshot.ts';

/** What a restore writes. */
export interface RestorePlan {
  /** Fields that take the snapshot's value, as it was stored, by name. */
  readonly names: readonly string[];
  /** The values for fields that hooks changed. */
  readonly changed: ColumnValues;
}

interface PendingRestore {
  readonly collection: Collection;
  readonly id: string;
  readonly candidates: readonly RestoredField[];
  readonly reader: RecordReader;
}

/**
 * Runs the update hooks before a restore. They get the restored values as the body. Values that they do not change are
 * restored as they were stored. Throws 422 for values that cannot be written, and for files that neither the record nor
 * the snapshot has.
 */
export async function prepareRestore(
  unit: WriteUnit,
  { collection, id, candidates, reader }: PendingRestore,
  context: RequestContext,
  { before, encryption }: { readonly before: BeforeWrite; readonly encryption: FieldEncryption },
): Promise<RestorePlan> {
  const body = Object.fromEntries(candidates.map(({ field, value }) => [field.name, value]));
  await encryption.decryptRecord(collection, body);
  const previous = (await readStored(unit.query, collection, [id], encryption)).get(id);
  const values = await before({ unit, collection, id, body, previous, context });
  const isChanged = (name: string) => !isDeepStrictEqual(values[name], body[name]);
  const written = [...(await reader.readChange(values))].filter(([name]) => isChanged(name));
  const changed = await encryption.storeSecrets(collection, new Map(written));
  refuseUnknownFiles(collection, changed, [body, previous ?? {}]);
  const wanted = new Set([values, previous ?? {}].flatMap((record) => fileNamesIn(collection, record)));
  const left = fileNamesIn(collection, body).filter((name) => !wanted.has(name));
  await dropNamed(unit.query, { collectionId: collection.id, recordId: id, names: left });
  const names = candidates
    .map(({ field }) => field.name)
    .filter((name) => Object.hasOwn(values, name) && !changed.has(name));
  return { names, changed };
}

/** Throws 422 for files that no version has. */
export function refuseUnknownFiles(
  collection: Collection,
  changed: ColumnValues,
  versions: readonly StoredRecord[],
): void {
  const unknown = fileFieldsOf(collection).filter((field) => {
    if (!changed.has(field.name)) return false;
    const known = versions.flatMap((version) => version[field.name] ?? []);
    return fileChangeOf(field, changed.get(field.name), true, undefined).keep?.some((name) => !known.includes(name));
  });
  refuseUnknownNames(unknown.map(({ name }) => name));
}
