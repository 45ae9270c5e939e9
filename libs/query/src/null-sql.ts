import { existsThrough } from './hops.ts';
import { certain, not, type Predicate } from './predicate.ts';
import { isMissing } from './request-values.ts';
import type { Column, RequestValue, Source } from './resolved.ts';
import type { SqlTarget } from './sql-target.ts';
import { storedSql, valueSql } from './value-sql.ts';

/** Whether the value can be null. Missing values of a guest do not count: their comparisons never hold. */
export const canBeNull = (source: Source): boolean =>
  source.source === 'column' || (source.source === 'request' && source.part !== 'auth' && source.part !== 'method');

/** Holds where a value is null. It adds parameters, so call it only for values that can be null. */
export function isNull(source: Source, into: SqlTarget): Predicate {
  if (source.source === 'column') {
    if (source.hops.length === 0) return isColumnNull(source, into);
    return not(existsThrough(source.hops, into.row, into, (row) => not(isColumnNull(source, { ...into, row })).sql));
  }
  if (source.source !== 'request' || !canBeNull(source)) return certain('false');
  const { part, path } = source;
  const key = `missing ${part}.${path.join('.')}`;
  return certain(into.parameters.ofRequest(key, 'boolean', (request) => isMissing(part, path, request)));
}

/** An empty list and a null within JSON mean no value (filters §6.4, §6.5). */
function isColumnNull(column: Column, into: SqlTarget): Predicate {
  const stored = storedSql(column, into);
  if (column.kind === 'list') return certain(`(${stored} is null or ${stored} = '[]'::jsonb)`);
  if (column.kind === 'json') return certain(`(${stored} is null or ${stored} = 'null'::jsonb)`);
  return certain(`${stored} is null`);
}

/** Whether a guest lacks the value. A comparison with a missing one never holds, whatever the operator (rules §4.4). */
export const isOfCaller = (source: Source): source is RequestValue =>
  source.source === 'request' && source.part === 'auth';

/** Holds where the caller has the value. */
export const isSignedIn = (value: RequestValue, into: SqlTarget): Predicate =>
  certain(`${valueSql({ ...value, isLowered: false }, 'text', into)} is not null`);

/** A test for null or, negated, for a value. */
export function nullTest(source: Source, isNegated: boolean, into: SqlTarget): Predicate {
  if (isOfCaller(source)) return isNegated ? isSignedIn(source, into) : certain('false');
  const found = isNull(source, into);
  return isNegated ? not(found) : found;
}
