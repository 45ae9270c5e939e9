import { compileExpression, compileSort, type Place, type Sort } from '@recordbus/query';
import { type Collection, hasTimeColumn } from '@recordbus/schema';
import { type Asking, compileRule, isAsked, writerOf } from '../rules/compile-rule.ts';
import { readExpression } from './read-expression.ts';

type Reading = Pick<Asking, 'principal' | 'schema'>;

/** The list rule, where this caller is asked it, and the filter as one condition; undefined when there is neither. */
export function readCondition(
  collection: Collection,
  filter: string | undefined,
  place: Place,
  { principal, schema }: Reading,
): string | undefined {
  const scope = { collection, schema, writtenBy: writerOf({ principal }) };
  const conditions: string[] = [];
  if (isAsked(collection, 'list', principal)) conditions.push(`(${compileRule(collection, 'list', schema, place)})`);
  if (filter !== undefined)
    conditions.push(`(${readExpression('filter', () => compileExpression(filter, scope, place))})`);
  return conditions.length > 0 ? conditions.join(' and ') : undefined;
}

/** The sort; newest first where none is given and it is known how old a row is (contract §8, Views). */
export function readSort(
  collection: Collection,
  sort: string | undefined,
  place: Place,
  { principal, schema }: Reading,
): Sort {
  const scope = { collection, schema, writtenBy: writerOf({ principal }) };
  const byAge = hasTimeColumn(collection, 'created_at') ? '-created' : 'id';
  return readExpression('sort', () => compileSort(sort ?? byAge, scope, place));
}
