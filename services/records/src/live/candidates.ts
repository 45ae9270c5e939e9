import {
  compileCandidates,
  createNamedParameters,
  type EventRows,
  eventAlias,
  type NamedParameters,
  QueryError,
  selectEventRows,
} from '@recordbus/query';
import type { Collection } from '@recordbus/schema';
import { type CompileContext, clientScope } from '../rules/compile-rule.ts';
import { needsRuleCheck } from '../rules/rule-context.ts';

/**
 * A statement that finds which accounts events may concern, by id. It returns null if an event may concern everyone.
 */
export interface CandidatesStatement extends Pick<NamedParameters<EventRows>, 'valuesFrom'> {
  readonly text: string;
}

/** Compiles the statement; undefined if the rule does not lead from a record to accounts. */
export function compileCandidatesOf(
  collection: Collection,
  action: 'list' | 'view',
  context: CompileContext,
): CandidatesStatement | undefined {
  if (context.principal.type !== 'user' || !needsRuleCheck(collection, action, context)) return undefined;
  const parameters = createNamedParameters<EventRows>();
  const scope = { ...clientScope(collection, context), audience: 'rule' } as const;
  const found = findCandidates(() =>
    compileCandidates(collection.rules[action] ?? '', scope, { row: eventAlias, parameters, isTable: false }),
  );
  if (!found) return undefined;
  const text = `with event as materialized (
  ${selectEventRows(collection, parameters)}
)
select distinct account.id from event cross join lateral (${found.select}) account(id) where account.id is not null${
    found.everyone === undefined ? '' : `\nunion all\n(select null from event where ${found.everyone} limit 1)`
  }`;
  return { text, valuesFrom: parameters.valuesFrom };
}

/** Returns undefined for an invalid rule. It admits nobody, as the statement that judges finds. */
function findCandidates<T>(compile: () => T): T | undefined {
  try {
    return compile();
  } catch (error) {
    if (error instanceof QueryError) return undefined;
    throw error;
  }
}
