import { type Collection, type Field, quoteIdentifier, quoteLiteral } from '@recordbus/schema';
import { validationFailed } from '@recordbus/shared/errors';
import type { Upload } from './upload-parts.ts';

/** What a write does to a file field. */
interface FileChange {
  /** Names that stay, in their order; all of them when null. */
  readonly keep: readonly string[] | null;
  /** Names of new files, which come behind. */
  readonly add: readonly string[];
}

/** The file fields of a collection. */
export const fileFieldsOf = ({ fields }: Pick<Collection, 'fields'>): readonly Field[] =>
  fields.filter(({ type }) => type === 'file');

/** The names of all files that a record shows, or a body names. */
export const fileNamesIn = (
  collection: Pick<Collection, 'fields'>,
  record: Readonly<Record<string, unknown>>,
): string[] =>
  fileFieldsOf(collection)
    .flatMap(({ name }) => record[name] ?? [])
    .filter((name) => typeof name === 'string');

/** A body as the fields are to read it: with the names of the new files where their fields are. */
export function withFiles(
  collection: Collection,
  body: Readonly<Record<string, unknown>>,
  upload: Upload | undefined,
): Readonly<Record<string, unknown>> {
  if (!upload || upload.files.size === 0) return body;
  const merged = new Map(Object.entries(body));
  for (const { name, options } of fileFieldsOf(collection)) {
    const added = upload.files.get(name);
    if (!added) continue;
    const kept = merged.get(name) ?? [];
    // A list that is none is left to the field to refuse.
    if (options.multiple) merged.set(name, Array.isArray(kept) ? [...kept, ...added] : kept);
    else merged.set(name, added[0]);
  }
  return Object.fromEntries(merged);
}

/** The change of a file field whose value, as its column takes it, the body names or the upload has files for. */
export function fileChangeOf(field: Field, value: unknown, isNamed: boolean, upload: Upload | undefined): FileChange {
  const add = upload?.files.get(field.name) ?? [];
  const names: string[] = value === null ? [] : field.options.multiple ? JSON.parse(String(value)) : [String(value)];
  return { keep: isNamed ? names.filter((name) => !add.includes(name)) : null, add };
}

/** Refuses names in a new record that no upload of it has brought: it has no file yet. */
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

/** 422 naming the fields whose keep list names what the record does not have. */
export function refuseUnknownNames(fields: readonly string[]): void {
  if (fields.length > 0)
    throw validationFailed(
      Object.fromEntries(fields.map((name) => [name, 'names a file that the record does not have'])),
    );
}

/** The names that a row has in a file field, as a list in JSON. */
const storedNames = (field: Field, row: string): string => {
  const column = `${row}.${quoteIdentifier(field.name)}`;
  return field.options.multiple
    ? `coalesce(${column}, '[]'::jsonb)`
    : `case when ${column} is null then '[]'::jsonb else jsonb_build_array(${column}) end`;
};

/**
 * The value of a file field after a change (a FileChange in JSON) of what the row has now: uploads that come at once are
 * added one after the other, for the row is locked and none overwrites what another added.
 */
export function changedFiles(field: Field, change: string, row: string): string {
  if (!field.options.multiple) return `coalesce(${change} -> 'add' ->> 0, ${change} -> 'keep' ->> 0)`;
  return `case when jsonb_typeof(${change} -> 'keep') = 'array' then ${change} -> 'keep' else ${storedNames(field, row)} end || (${change} -> 'add')`;
}

/** The names, as text[], of the fields whose keep list names what the row does not have; `named` is such an array too. */
export function unknownFiles(
  fields: readonly { readonly field: Field; readonly change: string }[],
  named: string,
  row: string,
): string {
  const cases = fields.map(
    ({ field, change }) =>
      `case when ${quoteLiteral(field.name)} = any(${named}) and jsonb_typeof(${change} -> 'keep') = 'array' and not (${change} -> 'keep' <@ ${storedNames(field, row)}) then ${quoteLiteral(field.name)} end`,
  );
  return `array_remove(array[${cases.join(', ')}]::text[], null)`;
}
