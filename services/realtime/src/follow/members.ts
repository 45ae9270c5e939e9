import type { Subscription } from './subscription.ts';

/** A plan's subscriptions with the same values, which see the same. */
export interface Caller {
  readonly values: readonly unknown[];
  readonly subscriptions: Set<Subscription>;
}

/** A group's subscriptions, by their values. */
export class Members {
  readonly #callers = new Map<string, Caller>();
  readonly #byAccount = new Map<string, Set<Subscription>>();
  readonly #byRecord = new Map<string, Set<Caller>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  *[Symbol.iterator](): Iterator<Subscription> {
    for (const { subscriptions } of this.#callers.values()) yield* subscriptions;
  }

  add(subscription: Subscription): void {
    const { valuesKey, values, request } = subscription;
    const caller = this.#callers.get(valuesKey) ?? { values, subscriptions: new Set() };
    this.#callers.set(valuesKey, caller);
    caller.subscriptions.add(subscription);
    this.#size += 1;
    for (const name of namesOf(subscription)) addTo(this.#byAccount, name, subscription);
    if (request.record !== undefined) addTo(this.#byRecord, request.record, caller);
  }

  /** Removes a subscription. Returns false if it is not a member. */
  delete(subscription: Subscription): boolean {
    const { valuesKey, request } = subscription;
    const caller = this.#callers.get(valuesKey);
    if (!caller?.subscriptions.delete(subscription)) return false;
    this.#size -= 1;
    for (const name of namesOf(subscription)) removeFrom(this.#byAccount, name, subscription);
    if (caller.subscriptions.size > 0) return true;
    this.#callers.delete(valuesKey);
    if (request.record !== undefined) removeFrom(this.#byRecord, request.record, caller);
    return true;
  }

  /** Returns every caller. */
  callers(): readonly Caller[] {
    return [...this.#callers.values()];
  }

  /** Returns the callers among these accounts. */
  callersOf(accounts: readonly string[]): readonly Caller[] {
    const found = new Set<Caller>();
    for (const account of accounts)
      for (const { valuesKey } of this.#byAccount.get(account) ?? []) {
        const caller = this.#callers.get(valuesKey);
        if (caller) found.add(caller);
      }
    return [...found];
  }

  /** Returns the callers who follow one of these records. */
  callersFollowing(records: readonly string[]): readonly Caller[] {
    return [...new Set(records.flatMap((record) => [...(this.#byRecord.get(record) ?? [])]))];
  }

  /** Returns an account's subscriptions, by its id or address. */
  ofAccount(account: string): Iterable<Subscription> {
    return this.#byAccount.get(account) ?? [];
  }
}

function namesOf({ connection: { principal } }: Subscription): readonly string[] {
  if (principal.type === 'guest') return [];
  return principal.type === 'user' ? [principal.id, principal.email] : [principal.id];
}

function addTo<T>(index: Map<string, Set<T>>, key: string, value: T): void {
  const values = index.get(key) ?? new Set();
  index.set(key, values.add(value));
}

function removeFrom<T>(index: Map<string, Set<T>>, key: string, value: T): void {
  const values = index.get(key);
  values?.delete(value);
  if (values?.size === 0) index.delete(key);
}
