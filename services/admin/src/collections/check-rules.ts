import { startSlice } from '@recordbus/limits/time-slice';
import { checkRule, checkWebhookRule, findSources, QueryError, readsRequestBody } from '@recordbus/query';
import type { Collection, Problems } from '@recordbus/schema';
import { rulesOf } from './placed-rules.ts';
import { originOf } from './rule-origin.ts';

/**
 * Adds to `problems` each rule that cannot be evaluated with the planned collections. The changed collection's rule is
 * named by itself, another collection's as `<collection>.<rule>`. Runs in time slices.
 */
export async function checkRules(
  changed: Collection | undefined,
  collections: readonly Collection[],
  problems: Pick<Problems, 'add'>,
): Promise<void> {
  const slice = startSlice();
  for (const collection of collections) {
    if (slice.isOver()) await slice.pause();
    const prefix = collection === changed ? '' : `${collection.name}.`;
    checkOwnRules(collection, collections, {
      add: (place, message) => problems.add(`${prefix}${place}`, message),
    });
  }
}

/** Adds to `problems` one collection's rules that cannot be evaluated with the planned collections. */
export function checkOwnRules(
  collection: Collection,
  collections: readonly Collection[],
  problems: Pick<Problems, 'add'>,
): void {
  for (const { place, rule } of rulesOf(collection)) {
    const problem = findProblem(rule, place, originOf(collection, collections));
    if (problem !== undefined) problems.add(place, problem);
  }
}

function findProblem(rule: string, place: string, origin: ReturnType<typeof originOf>): string | undefined {
  try {
    if (place === 'webhook_rule') checkWebhookRule(rule, origin.owners, origin);
    else checkRule(rule, origin);
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    return error.message;
  }
  // It is checked again while the session lasts, without a request.
  if (place === 'sign_in_rule')
    return findSources(rule, origin).readsRequest ? 'cannot read @request: it is about the account alone' : undefined;
  // A writer chooses the body, and could make the answer show a hidden field.
  const isViewOfField = place.startsWith('fields.') && place.endsWith('.view_rule');
  return isViewOfField && readsRequestBody(rule) ? 'cannot read @request.body' : undefined;
}
