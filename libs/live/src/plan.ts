import type { LiveRequest } from './requests.ts';

/** A collection whose records decide about others: the rule or the filter passes through it. */
export interface CrossedCollection {
  readonly collection: string;
  /** The names of the fields that the expression reads there. */
  readonly fields: readonly string[];
  /** The names of the relation fields there that lead to accounts: a changed record names those that it concerns. */
  readonly accountFields: readonly string[];
  /** Whether it is the caller's own account that the expression reads (`@request.auth.org`): then its id is named. */
  readonly isCaller: boolean;
}

/**
 * How records judges the events of a subscription. Subscriptions with the same key share every statement: they differ
 * only in their `values`.
 */
export interface LivePlan {
  readonly key: string;
  /** One of the requests with this key. Records compiles it again; it keeps nothing of a subscription. */
  readonly request: LiveRequest;
  /** The callers who share the statement: `admin`, `guest` or `user:<collection>`. */
  readonly callerKind: string;
  /** Whether events must be judged at all: false where everybody with this plan sees every event alike. */
  readonly readsValues: boolean;
  /** Whether `candidates` can name the accounts that an event may concern, so that only they have to be judged. */
  readonly hasCandidates: boolean;
  readonly crossed: readonly CrossedCollection[];
}

/** A plan, and what one subscription adds to it: the values that its rule and filter read, in their order. */
export interface OpenedPlan {
  readonly plan: LivePlan;
  readonly values: readonly unknown[];
}
