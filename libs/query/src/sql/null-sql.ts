import { type CallerValue, type Column, hasSeveralValues, type NullTest, type Source } from '../resolve/resolved.ts';
import { presenceOf } from './caller-sql.ts';
import { existsFromAccount, existsThrough } from './hops.ts';
import { and, certain, not, type Predicate } from './predicate.ts';
import { isMissing } from './request-values.ts';
import { type SqlTarget, targetOf } from './sql-target.ts';
import { columnSql, storedSql } from './value-sql.ts';

/** Whether the value can be null. A guest's missing values do not count: their comparisons never hold. */
export const canBeNull = (source: Source): boolean =>
  source.source === 'column' || (source.source === 'request' && source.part !== 'auth' && source.part !== 'method');

/** Holds where a value is null. It adds parameters, so call it only for values that can be null. */
export function isNull(source: Source, into: SqlTarget): Predicate {
  if (source.source === 'column') {
    if (source.hops.length === 0) return isColumnNull(source, into);
    return not(existsThrough(source, into, (end) => not(isColumnNull(source, end)).sql));
  }
  if (source.source !== 'request' || !canBeNull(source)) return certain('false');
  const { part, path } = source;
  const key = `missing ${part}.${path.join('.')}`;
  return certain(into.parameters.ofRequest(key, 'boolean', (request) => isMissing(part, path, request)));
}

/** An empty list and a null within JSON mean no value (filters §6.4, §6.5). */
function isColumnNull(column: Column, into: SqlTarget): Predicate {
  if (column.transform && column.transform.to !== 'lower')
    return certain(`${columnSql(column, 'number', into)} is null`);
  const stored = storedSql(column, into);
  if (column.kind === 'list') return certain(`(${stored} is null or ${stored} = '[]'::jsonb)`);
  if (column.kind === 'json') return certain(`(${stored} is null or ${stored} = 'null'::jsonb)`);
  return certain(`${stored} is null`);
}

/** A test for null or, negated, for a value. */
export function nullTest({ operand, isNegated, negatesValue }: NullTest, into: SqlTarget): Predicate {
  const inForm = (found: Predicate): Predicate => (isNegated ? not(found) : found);
  if (operand.source === 'request' && operand.part === 'auth')
    return isNegated ? presenceOf(operand, into) : certain('false');
  if (operand.source === 'count' && operand.account) return isNegated ? presenceOf(operand, into) : certain('false');
  if (operand.source === 'caller') return callerNullTest(operand, { isNegated, negatesValue }, into);
  if (operand.source !== 'column') return inForm(isNull(operand, into));
  const from = targetOf(operand, into);
  if (!hasSeveralValues(operand)) return inForm(isNull(operand, from));
  return inForm(existsThrough(operand, from, (end) => valueNull(operand, negatesValue, end)));
}

const valueNull = (column: Column, negatesValue: boolean, end: SqlTarget): string => {
  const found = isColumnNull(column, end);
  return (negatesValue ? not(found) : found).sql;
};

/** A caller's null passes no test. Only a list may be empty. */
function callerNullTest(
  source: CallerValue,
  { isNegated, negatesValue }: Omit<NullTest, 'kind' | 'operand'>,
  into: SqlTarget,
): Predicate {
  const { account, column } = source;
  const isOne = source.kind !== 'list' && !hasSeveralValues(source);
  if (isOne && !isNegated) return certain('false');
  const present = presenceOf(source, into);
  if (isOne) return present;
  const found = existsFromAccount(account, column, into, (end) => valueNull(column, negatesValue, end));
  return and(present, isNegated ? not(found) : found);
}
