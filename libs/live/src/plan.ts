import type { LiveRequest } from './requests.ts';

/** A collection, other than the subscription's, whose records the rule or the filter reads. */
export interface CrossedCollection {
  readonly collection: string;
  /** The collection's id, which stays when it is renamed. */
  readonly collectionId: string;
  /** The fields that the expression reads there. */
  readonly fields: readonly string[];
  /**
   * The fields that name accounts: relations to accounts, and those that the expression compares with the caller's id
   * or address. Through them, a changed record names the accounts that it concerns.
   */
  readonly accountFields: readonly string[];
  /**
   * Whether the expression reads the caller's own account (`@request.auth.org`). Then the record's id is the account.
   */
  readonly isCaller: boolean;
}

/**
 * How the records service judges a subscription's events. Subscriptions with the same key share every statement, and
 * differ only in their `values`.
 */
export interface LivePlan {
  readonly key: string;
  /** A request with this key. The records service compiles it again, since it stores nothing about subscriptions. */
  readonly request: LiveRequest;
  /** The followed collection's id, which stays when it is renamed. */
  readonly collectionId: string;
  /** The callers who share the statement: `admin`, `guest` or `user:<collection>`. */
  readonly callerKind: string;
  /** Whether events must be judged for each caller: false if everyone with this plan sees every event alike. */
  readonly readsValues: boolean;
  /** Whether `candidates` can name the accounts that an event may concern. Then only these must be judged. */
  readonly hasCandidates: boolean;
  readonly crossed: readonly CrossedCollection[];
}

/** A plan, with one subscription's values that its rule and filter read, in order. */
export interface OpenedPlan {
  readonly plan: LivePlan;
  readonly values: readonly unknown[];
}
