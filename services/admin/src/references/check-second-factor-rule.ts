import { checkRule, findSources, QueryError } from '@recordbus/query';
import type { Collection } from '@recordbus/schema';

/** Finds why the rule could not be asked for an account alone, which no request surrounds (auth §6.10). */
export function findSecondFactorProblem(
  rule: string,
  collection: Collection,
  collections: readonly Collection[],
): string | undefined {
  if (rule === '') return undefined;
  const origin = {
    collection,
    schema: { findCollection: (name: string) => collections.find((one) => one.name === name) },
    accounts: collections.filter(({ type }) => type === 'auth'),
  };
  try {
    checkRule(rule, origin);
    return findSources(rule, origin).readsRequest ? 'cannot read @request: it is about the account alone' : undefined;
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    return error.message;
  }
}
