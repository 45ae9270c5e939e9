import { checkRule, QueryError, readsRequestBody } from '@recordbus/query';
import type { Collection, Problems } from '@recordbus/schema';
import { rulesOf } from './placed-rules.ts';
import { originOf } from './rule-origin.ts';

/**
 * Adds to `problems` each rule that cannot be evaluated with the planned collections. A rule of the changed collection is
 * named by itself, a rule of another collection as `<collection>.<rule>`.
 */
export function checkRules(
  changed: Collection | undefined,
  collections: readonly Collection[],
  problems: Pick<Problems, 'add'>,
): void {
  for (const collection of collections) {
    for (const { place, rule } of rulesOf(collection)) {
      if (!rule) continue;
      const problem = findProblem(rule, place, originOf(collection, collections));
      if (problem !== undefined)
        problems.add(`${collection === changed ? '' : `${collection.name}.`}${place}`, problem);
    }
  }
}

function findProblem(rule: string, place: string, origin: ReturnType<typeof originOf>): string | undefined {
  try {
    checkRule(rule, origin);
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    return error.message;
  }
  // A writer chooses the body, and would so choose what the answer shows.
  const isViewOfField = place.startsWith('fields.') && place.endsWith('.view_rule');
  return isViewOfField && readsRequestBody(rule) ? 'cannot read @request.body' : undefined;
}
