import type { Query } from '@recordbus/database';
import { malformedParameter, validationFailed } from '@recordbus/errors';
import { createNamedParameters, type NamedParameters } from '@recordbus/query';
import {
  type Collection,
  type ColumnValues,
  comparedBy,
  comparedValue,
  compileRecordReader,
  type Field,
  fieldTypeOf,
  findUniqueFields,
  hasComparableValue,
  isOperatorObject,
  perCollection,
  tableOf,
} from '@recordbus/schema';
import { viewOf } from '../rules/field-rules.ts';
import type { RuleContext } from '../rules/rule-context.ts';

/** Values by which a record is found: those in fields that are unique together (records §17.3). */
export interface RecordKey {
  readonly fields: readonly Field[];
  /** The values for their columns. */
  readonly values: ColumnValues;
}

/** The values for a statement that finds a record by its key. */
export interface KeyValues {
  readonly key: ColumnValues;
}

const readerOf = perCollection(compileRecordReader);

/**
 * Reads a parameter's names as fields that are unique together. Throws 400 naming the parameter, even for a field that
 * is only closed to the caller.
 */
export function readKeyFields(collection: Collection, on: string, caller: RuleContext): readonly Field[] {
  const names = on.split(',').map((name) => name.trim());
  const fields = new Set(names).size === names.length ? findUniqueFields(collection, names) : undefined;
  const { closed } = viewOf(collection, caller);
  if (!fields || names.some((name) => closed.has(name)))
    throw malformedParameter('on', "must name a unique field, or a unique index's fields");
  return fields;
}

/** Reads a record's key from a body. Throws 422 naming every field without a value, or with a wrong one. */
export async function readKey(
  collection: Collection,
  fields: readonly Field[],
  body: Readonly<Record<string, unknown>>,
): Promise<RecordKey> {
  const given = fields.map(({ name }): [string, unknown] => [name, Object.hasOwn(body, name) ? body[name] : null]);
  const missing = given.filter(([, value]) => value === null || value === '' || isOperatorObject(value));
  if (missing.length > 0)
    throw validationFailed(
      Object.fromEntries(missing.map(([name]) => [name, 'must have the value of the record to find'])),
    );
  return { fields, values: await readerOf(collection).readChange(Object.fromEntries(given)) };
}

/** SQL that tests whether a row has the key. The unique index serves it. */
export const hasKey = (fields: readonly Field[], parameters: Pick<NamedParameters<KeyValues>, 'member'>): string =>
  fields
    .map((field) => {
      const value = parameters.member('key', field.name, fieldTypeOf(field).columnType(field));
      return `${comparedValue(field)} = ${comparedBy(field, value)} and ${hasComparableValue(field)}`;
    })
    .join(' and ');

/** The conflict target (SQL) when a record with the key is inserted. */
export const conflictOf = (fields: readonly Field[]): string =>
  `(${fields.map((field) => `(${comparedValue(field)})`).join(', ')}) where ${fields.map(hasComparableValue).join(' and ')}`;

/** Finds the record with a key, by id; undefined if there is none. `lock` locks it for the rest of the transaction. */
export async function findByKey(
  query: Query,
  collection: Collection,
  { fields, values }: RecordKey,
  lock: '' | ' for update' = '',
): Promise<string | undefined> {
  const parameters = createNamedParameters<KeyValues>();
  const text = `select id from ${tableOf(collection)} where ${hasKey(fields, parameters)}${lock}`;
  const [row] = await query<{ id: string }>({ text, values: parameters.valuesFrom({ key: values }) });
  return row?.id;
}
