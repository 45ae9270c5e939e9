import type { Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import type { Call } from '../rules/rule-context.ts';
import type { WriteRules } from '../write/write-rules.ts';
import type { WriteUnit } from '../write/write-unit.ts';
import type { FindReferrers } from './referrers.ts';

/** What deletes check and apply. */
export interface DeleteRules extends WriteRules {
  readonly findReferrers: FindReferrers;
}

/** The delete of a locked record, in its transaction. */
export interface Deletion {
  readonly unit: WriteUnit;
  readonly root: { readonly collection: Collection; readonly id: string };
  readonly call: Call;
  readonly rules: DeleteRules;
}

/** A delete with hooks. */
export interface HookedDeletion extends Deletion {
  /** The unit for the hooks: after each of their statements, records that were read before may be outdated. */
  readonly watched: WatchedUnit;
  /** The deadline of all hooks, by `performance.now`. */
  readonly deadlineMs: number;
  /** Keys of the records whose hooks have run, and of the fields that were cleared. */
  readonly done: Set<string>;
}

/** The unit of a delete, as hooks get it. */
export interface WatchedUnit extends WriteUnit {
  /** The number of statements so far. */
  readonly statements: number;
}

/** Counts the statements of a unit. */
export function watchUnit({ query, due }: WriteUnit): WatchedUnit {
  let statements = 0;
  const counted: Query = (statement) => {
    statements += 1;
    return query(statement);
  };
  return {
    query: counted,
    due,
    get statements() {
      return statements;
    },
  };
}
