import type { Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import type { Call } from '../rules/rule-context.ts';
import type { WriteRules } from '../write/write-rules.ts';
import type { WriteUnit } from '../write/write-unit.ts';
import type { EraseOwnAccount } from './own-account.ts';
import type { FindReferrers } from './referrers.ts';

/** What deletes check and apply. */
export interface DeleteRules extends WriteRules {
  readonly findReferrers: FindReferrers;
  readonly eraseOwnAccount: EraseOwnAccount;
}

/** A locked record's delete, in its transaction. */
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
  /** All hooks' deadline, by `performance.now`. */
  readonly deadlineMs: number;
  /** Keys for the records whose hooks have run, and for the fields that were cleared. */
  readonly done: Set<string>;
}

/** A delete's unit, as hooks get it. */
export interface WatchedUnit extends WriteUnit {
  /** How many statements it has run so far. */
  readonly statements: number;
}

/** Counts a unit's statements. */
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
