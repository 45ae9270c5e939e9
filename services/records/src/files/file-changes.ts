import { conflict, validationFailed } from '@recordbus/errors';
import { type Collection, type Field, listMaxOf, quoteIdentifier, quoteLiteral } from '@recordbus/schema';
import type { Upload } from './upload-parts.ts';

/** A file field's change. */
interface FileChange {
  /** Names to keep, in this order; null for all. */
  readonly keep: readonly string[] | null;
  /** New files' names, which follow the kept ones. */
  readonly add: readonly string[];
}

/** A collection's file fields. */
export const fileFieldsOf = ({ fields }: Pick<Collection, 'fields'>): readonly Field[] =>
  fields.filter(({ type }) => type === 'file');

/** All file names in a record or a body. */
export const fileNamesIn = (
  collection: Pick<Collection, 'fields'>,
  record: Readonly<Record<string, unknown>>,
): string[] =>
  fileFieldsOf(collection)
    .flatMap(({ name }) => record[name] ?? [])
    .filter((name) => typeof name === 'string');

/**
 * Adds the uploaded files' names to the body, as their fields' values. Throws 409 if they were uploaded for an earlier
 * collection with the name: they go with it.
 */
export function withFiles(
  collection: Collection,
  body: Readonly<Record<string, unknown>>,
  upload: Upload | undefined,
): Readonly<Record<string, unknown>> {
  if (!upload || upload.files.size === 0) return body;
  if (upload.collectionId !== collection.id)
    throw conflict('upload_expired', 'the collection was replaced during the upload; send it again');
  const merged = new Map(Object.entries(body));
  for (const { name, options } of fileFieldsOf(collection)) {
    const added = upload.files.get(name);
    if (!added) continue;
    const kept = merged.get(name) ?? [];
    // A value that is not a list is refused by the field.
    if (options.multiple) merged.set(name, Array.isArray(kept) ? [...kept, ...added] : kept);
    else merged.set(name, added[0]);
  }
  return Object.fromEntries(merged);
}

/** Returns a file field's change. `value` is for its column; `isNamed` is whether the body names the field. */
export function fileChangeOf(field: Field, value: unknown, isNamed: boolean, upload: Upload | undefined): FileChange {
  const add = upload?.files.get(field.name) ?? [];
  const names: string[] = value === null ? [] : field.options.multiple ? JSON.parse(String(value)) : [String(value)];
  return { keep: isNamed ? names.filter((name) => !add.includes(name)) : null, add };
}

/** Throws 422 for file names in a new record that its upload does not have (files §3.8). */
export function refuseForeignFiles(
  collection: Collection,
  values: ReadonlyMap<string, unknown>,
  upload: Upload | undefined,
): void {
  const foreign = fileFieldsOf(collection).filter(
    (field) => values.has(field.name) && fileChangeOf(field, values.get(field.name) ?? null, true, upload).keep?.length,
  );
  refuseUnknownNames(foreign.map(({ name }) => name));
}

const unknownName = 'names a file that the record does not have';

/** Throws 422 naming the fields that keep a file which the record does not have. */
export function refuseUnknownNames(fields: readonly string[]): void {
  if (fields.length > 0) throw validationFailed(Object.fromEntries(fields.map((name) => [name, unknownName])));
}

/** A file field's stored names, as a JSON list in SQL. */
const storedNames = (field: Field, row: string): string => {
  const column = `${row}.${quoteIdentifier(field.name)}`;
  return field.options.multiple
    ? `coalesce(${column}, '[]'::jsonb)`
    : `case when ${column} is null then '[]'::jsonb else jsonb_build_array(${column}) end`;
};

/**
 * A file field's value after a change (a FileChange in JSON) to the row, as SQL. The row is locked, so simultaneous
 * uploads are added one after the other and do not overwrite each other.
 */
export function changedFiles(field: Field, change: string, row: string): string {
  if (!field.options.multiple) return `coalesce(${change} -> 'add' ->> 0, ${change} -> 'keep' ->> 0)`;
  return `case when jsonb_typeof(${change} -> 'keep') = 'array' then ${change} -> 'keep' else ${storedNames(field, row)} end || (${change} -> 'add')`;
}

/**
 * The refused changes (text[]) as SQL, each as JSON text with the field's name and the message: one that keeps a file
 * which the row does not have, and one after which the field has too many. `named` is the text[] with the fields that
 * the body names.
 */
export function refusedFiles(
  fields: readonly { readonly field: Field; readonly change: string }[],
  named: string,
  row: string,
): string {
  const textOf = ({ name }: Field, message: string) => quoteLiteral(JSON.stringify([name, message]));
  const cases = fields.flatMap(({ field, change }) => [
    `case when ${quoteLiteral(field.name)} = any(${named}) and jsonb_typeof(${change} -> 'keep') = 'array' and not (${change} -> 'keep' <@ ${storedNames(field, row)}) then ${textOf(field, unknownName)} end`,
    ...(field.options.multiple ? listMaxOf(field, 'files').refusals(`(${changedFiles(field, change, row)})`) : []).map(
      ({ where, message }) => `case when ${where} then ${textOf(field, message)} end`,
    ),
  ]);
  return `array_remove(array[${cases.join(', ')}]::text[], null)`;
}
