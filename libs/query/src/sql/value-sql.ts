import type { ValueKind } from '@recordbus/schema';
import type { Column, Constant, IsSet, RequestValue, Scalar, Several, Source } from '../resolve/resolved.ts';
import { changedSql } from './changed-sql.ts';
import { compile } from './compile.ts';
import { countSql } from './count-sql.ts';
import { selectFromAccount } from './hops.ts';
import { momentSql } from './moment-sql.ts';
import { findRequestValue, readRequestValue } from './request-values.ts';
import { collateLowered, lowerSql, type SqlTarget } from './sql-target.ts';
import { transformSql } from './transform-sql.ts';

/** The SQL type for a parameter that holds such a value. */
const sqlTypeOf: Readonly<Record<Scalar, string>> = {
  text: 'text',
  number: 'double precision',
  date: 'bigint',
  bool: 'boolean',
  json: 'jsonb',
};

/** Compiles a value as its comparison's kind. Relations are already followed, to the row at `into`. */
export function valueSql(source: Source, as: ValueKind, into: SqlTarget): string {
  switch (source.source) {
    case 'constant':
      return constantSql(source, into);
    case 'column':
      return columnSql(source, as, into);
    case 'request':
      return convert(requestSql(source, into), source.kind, as);
    case 'moment':
      return convert(momentSql(source.name, source.shiftSec), 'date', as);
    case 'caller': {
      const value = selectFromAccount(source.account, source.column, into, (end) => columnSql(source.column, as, end));
      return source.column.transform?.to === 'lower' && as !== 'json' ? collateLowered(value, into) : value;
    }
    case 'count':
      return convert(countSql(source, into), 'number', as);
    case 'several':
      return severalSql(source, as, into);
    case 'isset':
      return convert(issetSql(source, into), 'bool', as);
    case 'changed':
      return convert(changedSql(source.field, into), 'bool', as);
  }
}

/** Returns a column's SQL, or that of the given keys in its JSON value. It is null where it is not visible. */
export function storedSql(
  { column, keys, visibleIf }: Pick<Column, 'column' | 'keys' | 'visibleIf'>,
  into: SqlTarget,
): string {
  const stored = `${into.row}.${column}`;
  const value = visibleIf
    ? `(case when ${compile(visibleIf, { ...into, outer: undefined })} then ${stored} end)`
    : stored;
  if (keys.length === 0) return value;
  // Quoted, since an array's text reads a bare null as no element.
  return `(${value} #> '{${keys.map((key) => `"${key}"`).join(',')}}')`;
}

/** Compiles a column's value in the row at `into`, as the comparison's kind. */
export function columnSql(column: Column, as: ValueKind, into: SqlTarget): string {
  const stored = storedSql(column, into);
  if (column.transform?.to === 'lower')
    return convert(lowerSql(convert(stored, column.kind, 'text'), into), 'text', as);
  if (column.transform) return convert(transformSql(stored, column.kind, column.transform), 'number', as);
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

/** The items in `in (…)` as an array; one parameter where all are constants. */
function severalSql({ items }: Several, as: ValueKind, into: SqlTarget): string {
  const kind: Scalar = as === 'list' || as === 'vector' ? 'text' : as;
  const constants = items.filter((item) => item.source === 'constant');
  const values = constants.map(({ value }) => value);
  const isWhole = kind !== 'date' || values.every(Number.isSafeInteger);
  const sqlType = `${isWhole ? sqlTypeOf[kind] : sqlTypeOf.number}[]`;
  if (constants.length === items.length) return into.parameters.fixed(values, sqlType);
  return `array[${items.map((item) => valueSql(item, kind, into)).join(', ')}]::${sqlType}`;
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
