import type { ChannelSubscription } from './channel-subscription.ts';
import type { OwnPresence } from './own-presence.ts';

/** Counts this replica's subscriptions for each key, which is present until the last one leaves (realtime §7.5). */
export interface PresentKeys {
  add(subscription: ChannelSubscription): void;
  delete(subscription: ChannelSubscription): void;
}

/** One key's subscriptions, oldest first. The state is the newest one's. */
interface PresentKey {
  readonly subscriptions: Set<ChannelSubscription>;
  latest: ChannelSubscription | undefined;
}

export function createPresentKeys({ set }: Pick<OwnPresence, 'set'>): PresentKeys {
  const present = new Map<string, PresentKey>();

  return {
    add(subscription) {
      const { channel, presence } = subscription;
      if (!presence) return;
      const key = keyOf(channel, presence.key);
      const subscriptions = present.get(key)?.subscriptions ?? new Set();
      present.set(key, { subscriptions: subscriptions.add(subscription), latest: subscription });
      set(channel, presence.key, presence.state);
    },
    delete(subscription) {
      const { channel, presence } = subscription;
      if (!presence) return;
      const key = keyOf(channel, presence.key);
      const found = present.get(key);
      if (!found?.subscriptions.delete(subscription)) return;
      if (found.subscriptions.size === 0) present.delete(key);
      if (found.latest !== subscription) return;
      found.latest = [...found.subscriptions].at(-1);
      set(channel, presence.key, found.latest?.presence?.state);
    },
  };
}

/** Channel names have no control characters. */
const keyOf = (channel: string, key: string): string => `${channel}\0${key}`;
