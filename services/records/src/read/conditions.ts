import { compileExpression, compileSort, type Sort, type SqlTarget } from '@recordbus/query';
import { type Collection, hasTimeColumn } from '@recordbus/schema';
import { audienceOf, compileRule } from '../rules/compile-rule.ts';
import { needsRuleCheck, type RuleContext } from '../rules/rule-context.ts';
import { readExpression } from './read-expression.ts';

type ReadContext = Pick<RuleContext, 'principal' | 'schema'>;

/** The list rule, if it applies to this caller, and the filter as one condition; undefined without both. */
export function readCondition(
  collection: Collection,
  filter: string | undefined,
  into: SqlTarget,
  { principal, schema }: ReadContext,
): string | undefined {
  const scope = { collection, schema, audience: audienceOf({ principal }) };
  const conditions: string[] = [];
  if (needsRuleCheck(collection, 'list', { principal }))
    conditions.push(`(${compileRule(collection, 'list', schema, into)})`);
  if (filter !== undefined)
    conditions.push(`(${readExpression('filter', () => compileExpression(filter, scope, into))})`);
  return conditions.length > 0 ? conditions.join(' and ') : undefined;
}

/** The sort. The default is newest first, or by id where rows have no `created` (records §3.2). */
export function readSort(
  collection: Collection,
  sort: string | undefined,
  into: SqlTarget,
  { principal, schema }: ReadContext,
): Sort {
  const scope = { collection, schema, audience: audienceOf({ principal }) };
  const defaultSort = hasTimeColumn(collection, 'created_at') ? '-created' : 'id';
  return readExpression('sort', () => compileSort(sort ?? defaultSort, scope, into));
}
