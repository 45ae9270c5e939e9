import type { Bus } from '@recordbus/bus';
import type { LiveReads } from '@recordbus/live';
import type { Logger } from '@recordbus/process/logging';
import type { Principal } from '@recordbus/request/context';
import type { Settings } from '@recordbus/settings';
import { z } from 'zod';
import type { Connection } from '../connection/connection.ts';
import type { Change } from '../stream/change.ts';
import { CallerAccounts } from './caller-accounts.ts';
import { Channel } from './channel.ts';
import type { ChannelMessage } from './channel-frames.ts';
import type { ChannelSubscriptionRequest } from './channel-request.ts';
import { createChannelRules } from './channel-rules.ts';
import { type Admission, ChannelSubscription } from './channel-subscription.ts';
import { Members } from './members.ts';
import { createOtherReplicas } from './other-replicas.ts';
import { createOwnPresence } from './own-presence.ts';
import { createPresentKeys } from './present-keys.ts';
import { createRuleChecks } from './rule-checks.ts';

/** This replica's channels (realtime §7). */
export interface Channels {
  /** How many subscriptions there are. */
  readonly size: number;
  /** Admits a subscriber. Throws 404, 403, 401 or 503. */
  admit(channel: string, principal: Principal): Promise<Admission>;
  /** Adds a subscription to its connection; the returned function begins it. */
  follow(connection: Connection, wanted: ChannelSubscriptionRequest, admission: Admission): () => void;
  /** Sends data, which is JSON text, to every subscriber at every replica. Throws 404, 403, 401 or 503. */
  publish(channel: string, data: string, publisher: Principal): Promise<void>;
  /** Checks a connection's subscriptions again after its principal has changed. */
  recheck(connection: Connection): void;
  /** Checks a user's subscriptions again after the user's account was written. */
  noteChange(change: Pick<Change, 'collection' | 'recordId'>): void;
  start(): void;
  stop(): Promise<void>;
}

export interface ChannelsDeps {
  readonly bus: Pick<Bus, 'publish' | 'subscribe' | 'onConnect' | 'onNotice'>;
  readonly settings: Pick<Settings, 'get' | 'onChange'>;
  readonly live: Pick<LiveReads, 'admitsToChannel'>;
  readonly log: Logger;
  readonly onSent: (type: ChannelMessage['type']) => void;
}

/** The first line in a message between replicas. The data follows unchanged. */
const broadcastHead = z.object({ channel: z.string(), from: z.unknown() });

export function createChannels({ bus, settings, live, log, onSent }: ChannelsDeps): Channels {
  const channels = new Map<string, Channel>();
  const members = new Members((channel, key) => channels.get(channel)?.noteMember(key));
  const own = createOwnPresence({ bus, members, log });
  const others = createOtherReplicas({ bus, members, self: own.replica, onAsked: own.answer, log });
  const present = createPresentKeys(own);
  const accounts = new CallerAccounts();
  const rules = createChannelRules({ settings, live });
  const checks = createRuleChecks({ rules, settings, bus, log, subscriptions });
  const onDropped = (channel: string) =>
    log.warn({ channel }, 'a broadcast is dropped: earlier ones are still being sent');
  let endListening = () => {};

  function* subscriptions(): Generator<ChannelSubscription> {
    for (const channel of channels.values()) yield* channel.subscriptions;
  }

  function join(subscription: ChannelSubscription): void {
    if (subscription.isLeft) return;
    const { channel: name } = subscription;
    const channel = channels.get(name) ?? new Channel(name, { members, onSent, onDropped });
    channels.set(name, channel);
    present.add(subscription);
    accounts.add(subscription);
    channel.add(subscription);
    checks.noteBegun(subscription);
  }

  function leave(subscription: ChannelSubscription): void {
    const { channel: name } = subscription;
    const channel = channels.get(name);
    channel?.remove(subscription);
    if (channel?.subscriptions.size === 0) channels.delete(name);
    present.delete(subscription);
    accounts.delete(subscription);
  }

  function deliver(text: string): void {
    const end = text.indexOf('\n');
    const { channel, from } = broadcastHead.parse(JSON.parse(text.slice(0, end)));
    channels.get(channel)?.broadcast(text.slice(end + 1), JSON.stringify(from));
  }

  return {
    get size() {
      return [...channels.values()].reduce((sum, { subscriptions: { size } }) => sum + size, 0);
    },
    async admit(channel, principal) {
      return checks.admissionBy(await rules.admit(channel, 'subscribe', principal), principal);
    },
    follow(connection, wanted, admission) {
      const subscription = new ChannelSubscription(wanted, connection, admission, leave);
      connection.followed.set(wanted.id, subscription);
      return () => join(subscription);
    },
    async publish(channel, data, publisher) {
      await rules.admit(channel, 'publish', publisher);
      const from = { type: publisher.type, id: publisher.type === 'guest' ? null : publisher.id };
      bus.publish('broadcast', `${JSON.stringify({ channel, from })}\n${data}`);
    },
    recheck(connection) {
      const theirs = [...connection.followed.values()].filter((one) => one instanceof ChannelSubscription);
      for (const subscription of theirs) accounts.add(subscription);
      checks.checkSoon(theirs);
    },
    noteChange: (change) => checks.checkRecordsSoon(accounts.of(change)),
    start() {
      endListening = bus.subscribe('broadcast', deliver);
      own.start();
      others.start();
      checks.start();
    },
    async stop() {
      endListening();
      await Promise.all([own.stop(), others.stop(), checks.stop()]);
    },
  };
}
