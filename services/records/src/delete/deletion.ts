import type { Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import type { RequestContext } from '@recordbus/shared/context';
import type { Asking } from '../rules/compile-rule.ts';
import type { WriteRules } from '../write/write-rules.ts';
import type { FindReferrers } from './referrers.ts';

/** What deletes keep to. */
export interface DeleteRules extends WriteRules {
  readonly findReferrers: FindReferrers;
}

/** The delete of a record that is locked, in its transaction. */
export interface Deletion {
  readonly query: Query;
  readonly root: { readonly collection: Collection; readonly id: string };
  readonly context: RequestContext;
  readonly asking: Asking;
  readonly rules: DeleteRules;
}
