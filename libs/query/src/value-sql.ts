import type { ValueKind } from '@recordbus/schema';
import type { Moment } from './ast.ts';
import { changedSql } from './changed-sql.ts';
import { findRequestValue, readRequestValue } from './request-values.ts';
import type { Column, Constant, IsSet, RequestValue, Scalar, Source } from './resolved.ts';
import { lowerSql, type SqlTarget } from './sql-target.ts';

/** The SQL type of a parameter that holds such a value. */
const sqlTypeOf: Readonly<Record<Scalar, string>> = {
  text: 'text',
  number: 'double precision',
  date: 'bigint',
  bool: 'boolean',
  json: 'jsonb',
};

/** Compiles a value as the kind of its comparison. Relations are already followed, to the row of `into`. */
export function valueSql(source: Source, as: ValueKind, into: SqlTarget): string {
  switch (source.source) {
    case 'constant':
      return constantSql(source, into);
    case 'column':
      return columnSql(source, as, into);
    case 'request':
      return convert(requestSql(source, into), source.kind, as);
    case 'moment':
      return convert(momentSql[source.name], 'date', as);
    case 'isset':
      return convert(issetSql(source, into), 'bool', as);
    case 'changed':
      return convert(changedSql(source.field, into), 'bool', as);
  }
}

/** Returns the SQL of a column, or of the given keys in its JSON value. */
export function storedSql({ column, keys }: Pick<Column, 'column' | 'keys'>, { row }: SqlTarget): string {
  if (keys.length === 0) return `${row}.${column}`;
  // Quoted, since the text of an array reads a bare null as no element.
  return `(${row}.${column} #> '{${keys.map((key) => `"${key}"`).join(',')}}')`;
}

function columnSql(column: Column, as: ValueKind, into: SqlTarget): string {
  const stored = storedSql(column, into);
  if (column.isLowered) return convert(lowerSql(convert(stored, column.kind, 'text'), into), 'text', as);
  // A null within JSON means no value, like SQL's null.
  if (column.kind === 'json' && as === 'json') return `nullif(${stored}, 'null'::jsonb)`;
  return convert(stored, column.kind, as);
}

/** Converts a value to another kind. As text it is its JSON text, a string without quotes. */
function convert(sql: string, kind: ValueKind, as: ValueKind): string {
  if (as === kind) return sql;
  if (as === 'text') return kind === 'json' ? `(${sql} #>> '{}')` : `${sql}::text`;
  return as === 'json' ? `to_jsonb(${sql})` : sql;
}

function constantSql({ kind, value }: Constant, { parameters }: SqlTarget): string {
  const isWhole = kind !== 'date' || Number.isSafeInteger(value);
  return parameters.fixed(value, isWhole ? sqlTypeOf[kind] : sqlTypeOf.number);
}

function requestSql(value: RequestValue, into: SqlTarget): string {
  const key = `${value.part}.${value.path.join('.')} as ${value.kind}`;
  const sqlType = value.kind === 'list' ? 'jsonb' : sqlTypeOf[value.kind];
  const sql = into.parameters.ofRequest(key, sqlType, (request) => readRequestValue(value, request));
  return value.isLowered ? lowerSql(sql, into) : sql;
}

const issetSql = ({ part, path }: IsSet, { parameters }: SqlTarget): string =>
  parameters.ofRequest(
    `isset ${part}.${path.join('.')}`,
    'boolean',
    (request) => findRequestValue(part, path, request) !== undefined,
  );

const nowSec = 'floor(extract(epoch from now()))::bigint';
const dayStartSec = '(floor(extract(epoch from now()) / 86400) * 86400)::bigint';

/** Times of the database's clock, which also sets `created` and `updated`; days are in UTC. */
const momentSql: Readonly<Record<Moment['name'], string>> = {
  now: nowSec,
  todayStart: dayStartSec,
  todayEnd: `(${dayStartSec} + 86399)`,
};
