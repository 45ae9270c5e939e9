import type { OfCaller } from '../resolve/caller-values.ts';
import { type CallerValue, type Column, hasSeveralValues, passesSeveral } from '../resolve/resolved.ts';
import { existsFromAccount, selectFromAccount } from './hops.ts';
import { certain, type Predicate } from './predicate.ts';
import { collateLowered, type SqlTarget } from './sql-target.ts';
import { columnSql, storedSql, valueSql } from './value-sql.ts';

/** The caller's values as an array. It is computed once per statement, so the other side's index serves it. */
export function callerArray({ account, column, kind }: CallerValue, as: Column['kind'], into: SqlTarget): string {
  const select = (end: SqlTarget) =>
    kind === 'list' ? `jsonb_array_elements_text(${storedSql(column, end)})` : columnSql(column, as, end);
  const array = `array${selectFromAccount(account, column, into, select)}`;
  return column.transform?.to === 'lower' && as !== 'json' ? collateLowered(array, into) : array;
}

/**
 * Holds if the caller has the value (rules §4.4). A list, or a path with several values, exists if the record at its
 * beginning exists, even if it is empty.
 */
export function presenceOf(source: OfCaller, into: SqlTarget): Predicate {
  if (source.source === 'request')
    return certain(`${valueSql({ ...source, isLowered: false }, 'text', into)} is not null`);
  if (source.source === 'caller' && source.kind !== 'list' && !hasSeveralValues(source))
    return certain(`${valueSql(source, source.kind, into)} is not null`);
  const { account } = source;
  if (!account) return certain('true');
  const way = source.source === 'caller' ? source.column : source.of;
  const several = way.hops.findIndex((hop) => passesSeveral({ up: 0, hops: [hop] }));
  const hops = several < 0 ? way.hops : way.hops.slice(0, several);
  return existsFromAccount(account, { ...way, hops }, into, () => undefined);
}
