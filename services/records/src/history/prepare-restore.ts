import { isDeepStrictEqual } from 'node:util';
import type { Query } from '@recordbus/database';
import type { Collection, ColumnValues, Field, FieldSealing, RecordReader } from '@recordbus/schema';
import type { RequestContext } from '@recordbus/shared/context';
import { dropNamed } from '../files/announced-files.ts';
import { fileChangeOf, fileFieldsOf, fileNamesIn, refuseUnknownNames } from '../files/file-changes.ts';
import { readStored, type StoredRecord } from '../read/read-stored.ts';
import type { BeforeWrite } from '../write/write-hooks.ts';

/** A field that is to be restored, and the value of then; that of an encrypted field is sealed. */
export interface Restored {
  readonly field: Field;
  readonly value: unknown;
}

/** What a restore writes. */
export interface RestorePlan {
  /** Names of the fields that take the value of then, as it was stored. */
  readonly names: readonly string[];
  /** What the columns of other fields take. */
  readonly changed: ColumnValues;
}

interface PendingRestore {
  readonly collection: Collection;
  readonly id: string;
  readonly offered: readonly Restored[];
  readonly reader: RecordReader;
}

/**
 * Runs the hooks of an update before a restore; they see what is restored as its values. What they leave as it was comes
 * back as it was stored. Throws 422 for values that can not be written, and for files that the record had at neither time.
 */
export async function prepareRestore(
  query: Query,
  { collection, id, offered, reader }: PendingRestore,
  context: RequestContext,
  { before, sealing }: { readonly before: BeforeWrite; readonly sealing: FieldSealing },
): Promise<RestorePlan> {
  const body = Object.fromEntries(offered.map(({ field, value }) => [field.name, value]));
  sealing.openRecord(collection, body);
  const previous = (await readStored(query, collection, [id], sealing)).get(id);
  const values = await before({ query, collection, id, body, previous, context });
  const isChanged = (name: string) => !isDeepStrictEqual(values[name], body[name]);
  const written = [...reader.readChange(values)].filter(([name]) => isChanged(name));
  const changed = await sealing.storeSecrets(collection, new Map(written));
  refuseUnknownFiles(collection, changed, [body, previous ?? {}]);
  const wanted = new Set([values, previous ?? {}].flatMap((record) => fileNamesIn(collection, record)));
  const left = fileNamesIn(collection, body).filter((name) => !wanted.has(name));
  await dropNamed(query, { collectionId: collection.id, recordId: id, names: left });
  const names = offered
    .map(({ field }) => field.name)
    .filter((name) => Object.hasOwn(values, name) && !changed.has(name));
  return { names, changed };
}

function refuseUnknownFiles(collection: Collection, changed: ColumnValues, versions: readonly StoredRecord[]): void {
  const unknown = fileFieldsOf(collection).filter((field) => {
    if (!changed.has(field.name)) return false;
    const known = versions.flatMap((version) => version[field.name] ?? []);
    return fileChangeOf(field, changed.get(field.name), true, undefined).keep?.some((name) => !known.includes(name));
  });
  refuseUnknownNames(unknown.map(({ name }) => name));
}
