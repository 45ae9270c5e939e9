import type { Principal } from '@recordbus/request/context';
import type { Change } from '../stream/change.ts';
import type { ChannelSubscription } from './channel-subscription.ts';

/** Users' subscriptions, by their account records. */
export class CallerAccounts {
  readonly #subscriptions = new Map<string, Set<ChannelSubscription>>();
  readonly #keys = new Map<ChannelSubscription, string>();

  /** Adds a subscription, or adds it again after its caller has changed. */
  add(subscription: ChannelSubscription): void {
    this.delete(subscription);
    const key = keyOf(subscription.connection.principal);
    if (key === undefined) return;
    this.#keys.set(subscription, key);
    const same = this.#subscriptions.get(key) ?? new Set();
    this.#subscriptions.set(key, same.add(subscription));
  }

  delete(subscription: ChannelSubscription): void {
    const key = this.#keys.get(subscription);
    if (key === undefined) return;
    this.#keys.delete(subscription);
    const same = this.#subscriptions.get(key);
    same?.delete(subscription);
    if (same?.size === 0) this.#subscriptions.delete(key);
  }

  /** Returns the subscriptions of the user whose account a change is about. */
  of({ collection, recordId }: Pick<Change, 'collection' | 'recordId'>): Iterable<ChannelSubscription> {
    return this.#subscriptions.get(`${collection}/${recordId}`) ?? [];
  }
}

const keyOf = (principal: Principal): string | undefined =>
  principal.type === 'user' ? `${principal.collection}/${principal.id}` : undefined;
