import type { NamedParameters, Parameters } from '@recordbus/query';
import type { Collection } from '@recordbus/schema';
import type { RuleContext } from '../rules/rule-context.ts';
import { readExcluded } from '../shape/conditions.ts';
import type { ListRequest } from './list-request.ts';
import { countedTotal, incrementalTotal, remainingTotal } from './total.ts';

/** A total's values for each run: the total that an incremental one adds to, with its snapshot. */
export interface TotalValues {
  readonly total: number | undefined;
  readonly snapshot: string | undefined;
}

export interface ComposedTotal {
  /** A select of the list's `total`, and of the `whole` if it differs. */
  readonly select: string;
  /** The column with the whole collection's total; undefined if the total was not computed from it. */
  readonly whole: 'total' | 'whole' | undefined;
}

interface TotalPlace {
  /** The condition on the listed rows; undefined if all are listed. */
  readonly condition: string | undefined;
  readonly parameters: Parameters & Pick<NamedParameters<TotalValues>, 'named'>;
  readonly ruleContext: Pick<RuleContext, 'principal' | 'schema'>;
}

/**
 * Composes a list's total. If one negated test decides which records are listed (`status != "archived"`), it subtracts
 * the others from the whole: PostgreSQL may find them by an index, and the whole is known.
 */
export function composeTotal(
  collection: Collection,
  request: Pick<ListRequest, 'filter' | 'ids'>,
  isIncremental: boolean,
  { condition, parameters, ruleContext }: TotalPlace,
): ComposedTotal {
  const whole = () =>
    isIncremental
      ? incrementalTotal(collection, parameters.named('total', 'bigint'), parameters.named('snapshot', 'pg_snapshot'))
      : countedTotal(collection);
  // View rows appear and disappear without events, so their total cannot be incremental.
  const isTable = collection.type !== 'view';
  if (condition === undefined) return { select: whole(), whole: isTable ? 'total' : undefined };
  const excluded =
    isTable && !request.ids
      ? readExcluded(collection, request.filter, { row: 't', parameters }, ruleContext)
      : undefined;
  if (excluded === undefined) return { select: `${countedTotal(collection)} t where ${condition}`, whole: undefined };
  return { select: remainingTotal(collection, whole(), excluded), whole: 'whole' };
}
