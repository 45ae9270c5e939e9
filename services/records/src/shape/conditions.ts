import {
  compileExcluded,
  compileExpression,
  compileSort,
  type Excluded,
  type Sort,
  type SqlTarget,
} from '@recordbus/query';
import { type Collection, hasTimeColumn } from '@recordbus/schema';
import { clientScope, compileExcludedByRule, compileRule } from '../rules/compile-rule.ts';
import { needsRuleCheck, type RuleContext } from '../rules/rule-context.ts';
import { readExpression } from './read-expression.ts';

type ReadContext = Pick<RuleContext, 'principal' | 'schema'>;

/** The list rule, if it applies to this caller, and the filter as one condition; undefined without both. */
export function readCondition(
  collection: Collection,
  filter: string | undefined,
  into: SqlTarget,
  context: ReadContext,
): string | undefined {
  const there = { ...into, isTable: true };
  const conditions: string[] = [];
  if (needsRuleCheck(collection, 'list', context))
    conditions.push(`(${compileRule(collection, 'list', context, there)})`);
  if (filter !== undefined) conditions.push(`(${readFilter(collection, filter, there, context)})`);
  return conditions.length > 0 ? conditions.join(' and ') : undefined;
}

/**
 * The rows that `readCondition` excludes, if either the rule or the filter applies, and one negated test in it decides;
 * else undefined.
 */
export function readExcluded(
  collection: Collection,
  filter: string | undefined,
  into: SqlTarget,
  context: ReadContext,
): Excluded | undefined {
  const there = { ...into, isTable: true };
  if (!needsRuleCheck(collection, 'list', context))
    return filter === undefined ? undefined : compileExcluded(filter, clientScope(collection, context), there);
  return filter === undefined ? compileExcludedByRule(collection, 'list', context, there) : undefined;
}

/** A caller's filter as a condition. Throws 400 naming the parameter. */
export const readFilter = (
  collection: Collection,
  filter: string,
  into: SqlTarget,
  context: ReadContext,
  parameter = 'filter',
): string => readExpression(parameter, () => compileExpression(filter, clientScope(collection, context), into));

/** The sort. The default is newest first, or by id where rows have no `created` (records §3.2). */
export function readSort(
  collection: Collection,
  sort: string | undefined,
  into: SqlTarget,
  context: ReadContext,
  parameter = 'sort',
): Sort {
  const defaultSort = hasTimeColumn(collection, 'created_at') ? '-created' : 'id';
  return readExpression(parameter, () =>
    compileSort(sort ?? defaultSort, clientScope(collection, context), { ...into, isTable: true }),
  );
}
