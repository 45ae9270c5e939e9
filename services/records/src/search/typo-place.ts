import type { Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import type { RuleContext } from '../rules/rule-context.ts';
import type { Search } from './search-request.ts';

/** Where a search's typos are looked for, and for whom. */
export interface TypoPlace {
  /** Runs the statements, which have one read's time together. */
  readonly query: Query;
  readonly collection: Collection;
  readonly search: Search;
  readonly filter: string | undefined;
  readonly ruleContext: RuleContext;
}

/**
 * How many matches of a word are counted, which decides between equally near corrections. To ask only whether there is one
 * would make the planner read every record instead of the index.
 */
const maxCounted = 1000;

/** Counts matches. */
export const countSql = (matches: string): string =>
  `(select count(*)::integer from (select ${matches} limit ${maxCounted}) m)`;
