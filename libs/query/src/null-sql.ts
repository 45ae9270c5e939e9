import { existsThrough } from './hops.ts';
import type { Place } from './place.ts';
import { certain, not, type Predicate } from './predicate.ts';
import { isMissing } from './request-values.ts';
import type { Column, RequestValue, Source } from './resolved.ts';
import { storedSql, valueSql } from './value-sql.ts';

/** Can the value be null? One of a guest that is missing is none of these: its comparisons are false anyway. */
export const canBeNull = (source: Source): boolean =>
  source.source === 'column' || (source.source === 'request' && source.part !== 'auth' && source.part !== 'method');

/** Where a value is null. Places parameters, so it is for values that can be. */
export function isNull(source: Source, place: Place): Predicate {
  if (source.source === 'column') {
    if (source.hops.length === 0) return isColumnNull(source, place);
    return not(existsThrough(source.hops, place.row, place, (row) => not(isColumnNull(source, { ...place, row })).sql));
  }
  if (source.source !== 'request' || !canBeNull(source)) return certain('false');
  const { part, path } = source;
  const key = `missing ${part}.${path.join('.')}`;
  return certain(place.parameters.ofRequest(key, 'boolean', (request) => isMissing(part, path, request)));
}

/** An empty list has no value, and a null within JSON is none. */
function isColumnNull(column: Column, place: Place): Predicate {
  const stored = storedSql(column, place);
  if (column.kind === 'list') return certain(`(${stored} is null or ${stored} = '[]'::jsonb)`);
  if (column.kind === 'json') return certain(`(${stored} is null or ${stored} = 'null'::jsonb)`);
  return certain(`${stored} is null`);
}

/** Is this a value that a guest lacks? A comparison with a missing one is false, whatever the operator (contract §2). */
export const isOfCaller = (source: Source): source is RequestValue =>
  source.source === 'request' && source.part === 'auth';

/** Holds where the caller has this value. */
export const isSignedIn = (value: RequestValue, place: Place): Predicate =>
  certain(`${valueSql({ ...value, isLowered: false }, 'text', place)} is not null`);

/** A test for null or, negated, for a value. */
export function nullTest(source: Source, isNegated: boolean, place: Place): Predicate {
  if (isOfCaller(source)) return isNegated ? isSignedIn(source, place) : certain('false');
  const found = isNull(source, place);
  return isNegated ? not(found) : found;
}
