import type { Moment } from './ast.ts';
import { changedSql } from './changed-sql.ts';
import { type Kind, sqlTypeOf } from './kind.ts';
import { lowerSql, type Place } from './place.ts';
import { findRequestValue, readRequestValue } from './request-values.ts';
import type { Column, Constant, IsSet, RequestValue, Source } from './resolved.ts';

/** The SQL of a value as what it is compared as; relations have been followed already, to the row of `place`. */
export function valueSql(source: Source, as: Kind, place: Place): string {
  switch (source.source) {
    case 'constant':
      return constantSql(source, place);
    case 'column':
      return columnSql(source, as, place);
    case 'request':
      return convert(requestSql(source, place), source.kind, as);
    case 'moment':
      return convert(momentSql[source.name], 'date', as);
    case 'isset':
      return convert(issetSql(source, place), 'bool', as);
    case 'changed':
      return convert(changedSql(source.field, place), 'bool', as);
  }
}

/** A column, or what stands in its JSON value under the given keys. */
export function storedSql({ column, keys }: Pick<Column, 'column' | 'keys'>, { row }: Place): string {
  if (keys.length === 0) return `${row}.${column}`;
  // Quoted, since the text of an array reads a bare null as no element.
  return `(${row}.${column} #> '{${keys.map((key) => `"${key}"`).join(',')}}')`;
}

function columnSql(column: Column, as: Kind, place: Place): string {
  const stored = storedSql(column, place);
  if (column.isLowered) return convert(lowerSql(convert(stored, column.kind, 'text'), place), 'text', as);
  // A null within JSON is no value, like SQL's.
  if (column.kind === 'json' && as === 'json') return `nullif(${stored}, 'null'::jsonb)`;
  return convert(stored, column.kind, as);
}

/** A value as another kind. As text it is what it is in JSON, a string without its quotes. */
function convert(sql: string, kind: Kind, as: Kind): string {
  if (as === kind) return sql;
  if (as === 'text') return kind === 'json' ? `(${sql} #>> '{}')` : `${sql}::text`;
  return as === 'json' ? `to_jsonb(${sql})` : sql;
}

function constantSql({ kind, value }: Constant, { parameters }: Place): string {
  const isWhole = kind !== 'date' || Number.isSafeInteger(value);
  return parameters.fixed(value, isWhole ? sqlTypeOf[kind] : sqlTypeOf.number);
}

function requestSql(value: RequestValue, place: Place): string {
  const key = `${value.part}.${value.path.join('.')} as ${value.kind}`;
  const sqlType = value.kind === 'list' ? 'jsonb' : sqlTypeOf[value.kind];
  const sql = place.parameters.ofRequest(key, sqlType, (request) => readRequestValue(value, request));
  return value.isLowered ? lowerSql(sql, place) : sql;
}

const issetSql = ({ part, path }: IsSet, { parameters }: Place): string =>
  parameters.ofRequest(
    `isset ${part}.${path.join('.')}`,
    'boolean',
    (request) => findRequestValue(part, path, request) !== undefined,
  );

const nowSec = 'floor(extract(epoch from now()))::bigint';
const dayStartSec = '(floor(extract(epoch from now()) / 86400) * 86400)::bigint';

/** By the database's clock, which also sets `created` and `updated`; days are those of UTC. */
const momentSql: Readonly<Record<Moment['name'], string>> = {
  now: nowSec,
  todayStart: dayStartSec,
  todayEnd: `(${dayStartSec} + 86399)`,
};
