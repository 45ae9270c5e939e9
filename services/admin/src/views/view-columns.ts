import { createHash } from 'node:crypto';
import { type Field, fieldTypeOf, findFieldNameProblem, quoteIdentifier, type TimeColumn } from '@recordbus/schema';
import { findOriginalField, type ViewColumn } from './inspect-view.ts';
import { refusedQuery } from './view-query.ts';

/** A view's fields, and the SELECT list over its query (alias `q`) that converts columns to their types. */
export interface ViewShape {
  readonly fields: readonly Field[];
  readonly lacking: readonly TimeColumn[];
  readonly selectList: string;
}

/** SQL for a number that JSON can hold. NaN and both infinities are not values (views §3.2). */
const finite = (number: string): string => `nullif(nullif(nullif(${number}, 'NaN'), 'Infinity'), '-Infinity')`;

/** SQL for unix seconds. */
const secondsOf = (time: string): string => `floor(${finite(`extract(epoch from ${time})`)})::bigint`;

/** Field types for computed columns, by PostgreSQL's type names, with the SQL that converts a value. */
const computed: Readonly<Record<string, readonly [type: string, sql: (column: string) => string]>> = {
  text: ['text', (column) => column],
  'character varying': ['text', (column) => `${column}::text`],
  character: ['text', (column) => `${column}::text`],
  uuid: ['text', (column) => `${column}::text`],
  interval: ['text', (column) => `${column}::text`],
  'time without time zone': ['text', (column) => `${column}::text`],
  'time with time zone': ['text', (column) => `${column}::text`],
  smallint: ['number', (column) => `${column}::double precision`],
  integer: ['number', (column) => `${column}::double precision`],
  bigint: ['number', (column) => `${column}::double precision`],
  numeric: ['number', (column) => finite(`${column}::double precision`)],
  real: ['number', (column) => finite(`${column}::double precision`)],
  'double precision': ['number', (column) => finite(column)],
  boolean: ['bool', (column) => column],
  date: ['date', secondsOf],
  'timestamp without time zone': ['date', secondsOf],
  'timestamp with time zone': ['date', secondsOf],
  json: ['json', (column) => `${column}::jsonb`],
  jsonb: ['json', (column) => column],
};

const timeColumns: readonly TimeColumn[] = ['created_at', 'updated_at'];

/**
 * Derives a view's fields from its columns. The fields' ids are derived from their names. Throws 422 for a view without
 * an id and for a column whose name is not valid for a field.
 */
export function shapeView(columns: readonly ViewColumn[]): ViewShape {
  if (!columns.some(({ name }) => name === 'id')) throw refusedQuery('must return a column "id"');
  const fields: Field[] = [];
  const selected: string[] = [];
  const folded = new Set<string>();
  for (const given of columns) {
    const column = { ...given, name: fieldNameOf(given) };
    // A part of a record's version, which `*` includes (libs/journal). A view's rows have no version (records §8.3).
    if (column.name === '_revision') continue;
    const quoted = `q.${quoteIdentifier(given.name)}`;
    const isTime = timeColumns.some((name) => name === column.name);
    if (column.name === 'id') selected.push(`${quoted}::text collate "C" as id`);
    else if (isTime) selected.push(`${timeOf(column, quoted)} as ${column.name}`);
    else {
      const problem = findFieldNameProblem(column.name, 'view');
      if (problem) throw refusedQuery(`the column ${column.name} cannot be a field: ${problem}`);
      const { field, sql } = fieldOf(column, quoted);
      fields.push({ ...field, id: idOf(column.name) });
      selected.push(`${sql} as ${quoteIdentifier(column.name)}`);
    }
    if (folded.has(column.name.toLowerCase()))
      throw refusedQuery(`two columns are called ${column.name}, ignoring case`);
    folded.add(column.name.toLowerCase());
  }
  const lacking = timeColumns.filter((name) => !columns.some((column) => fieldNameOf(column) === name));
  return { fields, lacking, selectList: selected.join(', ') };
}

/** Returns a column's field name. A query may use column names or those that records show. */
function fieldNameOf({ name, origin }: ViewColumn): string {
  if (name === 'created' || name === 'updated') return `${name}_at`;
  return name === 'is_anonymous' && origin?.collection.type === 'auth' ? 'anonymous' : name;
}

function timeOf({ name, type }: ViewColumn, quoted: string): string {
  const [kind, sql] = computed[type] ?? [];
  if (type === 'bigint') return quoted;
  if (kind === 'number') return `floor(${finite(`${quoted}::double precision`)})::bigint`;
  if (kind === 'date' && sql) return sql(quoted);
  throw refusedQuery(`the column ${name} must be a time, not ${type}`);
}

const idOf = (name: string) => createHash('sha256').update(name).digest('hex').slice(0, 12);

type Derived = { readonly field: Omit<Field, 'id'>; readonly sql: string };

function fieldOf(column: ViewColumn, quoted: string): Derived {
  const { name, origin } = column;
  const original = findOriginalField(column);
  const plain = { name, required: false, system: false, options: {} };
  const passedType = original && fieldTypeOf(original).viewType;
  if (original && passedType === original.type) {
    const { type, options, collection } = original;
    const { unique: _unique, encrypted: _encrypted, ...kept } = options;
    return { field: { ...plain, type, options: kept, ...(collection !== undefined && { collection }) }, sql: quoted };
  }
  if (passedType !== undefined) return { field: { ...plain, type: passedType }, sql: quoted };
  if (origin && timeColumns.some((time) => time === origin.column))
    return { field: { ...plain, type: 'date' }, sql: quoted };
  const [type, sql] = computed[column.type] ?? ['json', (value: string) => `to_jsonb(${value})`];
  return { field: { ...plain, type }, sql: sql(quoted) };
}
