import { type Field, fieldTypeOf } from '@recordbus/schema';

/**
 * What a value is to a comparison. A `list` is a JSON array of texts (several selected values, several files), a
 * `date` is unix seconds, a `vector` can only be told from null.
 */
export type Kind = 'text' | 'number' | 'date' | 'bool' | 'list' | 'json' | 'vector';

/** SQL types of columns, as the field types declare them, without their collation. */
const kindOfColumn: Readonly<Record<string, Kind>> = {
  text: 'text',
  'double precision': 'number',
  bigint: 'date',
  boolean: 'bool',
  'double precision[]': 'vector',
};

/** The kind of a field's values. Throws for a field type whose column it does not know. */
export function kindOf(field: Field): Kind {
  const columnType = fieldTypeOf(field)
    .columnType(field)
    .replace(/ collate .*/, '');
  if (columnType === 'jsonb') return field.options.multiple ? 'list' : 'json';
  const kind = kindOfColumn[columnType];
  if (!kind) throw new Error(`the field ${field.name} has a column of type ${columnType}, which no filter knows`);
  return kind;
}

/** The SQL type of a parameter that holds such a value. */
export const sqlTypeOf: Readonly<Record<Exclude<Kind, 'list' | 'vector'>, string>> = {
  text: 'text',
  number: 'double precision',
  date: 'bigint',
  bool: 'boolean',
  json: 'jsonb',
};
