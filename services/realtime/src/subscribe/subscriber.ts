import { AppError, internalError, malformed } from '@recordbus/errors';
import type { LiveReads } from '@recordbus/live';
import type { Logger } from '@recordbus/process/logging';
import type { Channels } from '../channels/channels.ts';
import type { Connection } from '../connection/connection.ts';
import { endForReconnect, isTemporary } from '../connection/end-for-reconnect.ts';
import { delay } from '../delay.ts';
import type { Group } from '../follow/group.ts';
import type { Groups } from '../follow/groups.ts';
import { Subscription } from '../follow/subscription.ts';
import { messages } from '../messages/messages.ts';
import type { ChangeLog } from '../stream/change-log.ts';
import { type Cursor, formatCursor } from '../stream/cursor.ts';
import { type Admission, type Admitted, admitSubscriptions, type Opened } from './admit-subscriptions.ts';
import type { ReadSubscription } from './subscription-request.ts';

/** Opens subscriptions, and adds those to records to groups. */
export interface Subscriber {
  /** Checks one caller's subscriptions; one result for each, in order. */
  admit(wanted: readonly ReadSubscription[], caller: Connection['caller']): Promise<readonly Admission[]>;
  /**
   * Begins the admitted subscriptions and sends the refusals. A connection's first ones follow `ready`. Resolves when
   * every snapshot has been sent.
   */
  begin(connection: Connection, admissions: readonly Admission[], isFirst: boolean): Promise<void>;
  /** Sends `resync` to a subscription, and begins it again at the stream's end. */
  restart(subscription: Subscription, reason: string): void;
  /** Makes a group's subscriptions join again with their new plans. */
  rejoin(group: Group): Promise<void>;
  /** Makes a connection's subscriptions join again after its principal has changed. */
  rejoinConnection(connection: Connection, change: () => void): Promise<void>;
}

interface SubscriberDeps {
  readonly live: Pick<LiveReads, 'open' | 'snapshot'>;
  readonly changes: Pick<ChangeLog, 'end' | 'findMissed'>;
  readonly groups: Pick<Groups, 'join'>;
  readonly channels: Pick<Channels, 'admit' | 'follow' | 'recheck'>;
  readonly log: Logger;
  readonly onResync: (reason: string) => void;
}

/** How many of one connection's snapshots are read at once. */
const snapshotsAtOnce = 4;
/** Subscriptions that are opened in one call. */
const openedAtOnce = 500;
/** How long a client may take to read its snapshot, in milliseconds. */
const snapshotReadMs = 60_000;
const drainCheckMs = 20;

export function createSubscriber({ live, changes, groups, channels, log, onResync }: SubscriberDeps): Subscriber {
  async function begin(connection: Connection, admissions: readonly Admission[], isFirst: boolean): Promise<void> {
    if (connection.isEnded) return;
    const refused: (() => void)[] = [];
    const starts: (() => Promise<void>)[] = [];
    for (const admission of admissions) {
      if ('refusal' in admission) refused.push(() => connection.send(messages.error(admission.refusal, admission.id)));
      else if (connection.followed.has(admission.wanted.id))
        refused.push(() => refuseSecond(connection, admission.wanted));
      else if ('admission' in admission) {
        const start = channels.follow(connection, admission.wanted, admission.admission);
        starts.push(async () => start());
      } else starts.push(follow(connection, admission));
    }
    const { epoch, seq: end } = changes.end;
    const seq = connection.through(end);
    if (isFirst && seq < 0) connection.send(messages.ready(formatCursor({ epoch, seq: end })));
    else if (isFirst) connection.send(messages.ready(formatCursor({ epoch, seq })), seq);
    for (const refuse of refused) refuse();
    const waiting = starts.values();
    const work = async () => {
      for (const start of waiting) await start();
    };
    await Promise.all(Array.from({ length: snapshotsAtOnce }, work));
  }

  function refuseSecond(connection: Connection, { id }: Admitted['wanted'] | Opened['wanted']): void {
    connection.send(messages.error(malformed(`id: there is a subscription ${id} already`, { id: 'is in use' }), id));
  }

  /** Adds a subscription to its connection; the returned function begins it. */
  function follow(connection: Connection, { wanted, plan, values }: Opened): () => Promise<void> {
    const { epoch, seq: end } = changes.end;
    const { after, wantsSnapshot } = wanted;
    const from = after?.epoch === epoch ? Math.min(after.seq, end) : end;
    const subscription = new Subscription(wanted.id, connection, wanted.request, from);
    subscription.isPending = after ? after.epoch !== epoch || after.seq > end : wantsSnapshot;
    subscription.wantsSnapshot = wantsSnapshot;
    subscription.setPlan(plan, values);
    connection.followed.set(wanted.id, subscription);
    return () => start(subscription, after).catch((error: unknown) => fail(subscription, error));
  }

  async function start(subscription: Subscription, after: Cursor | undefined): Promise<void> {
    // While it waited for its turn, it may already have begun again.
    if (subscription.beginnings > 0) return;
    const missed = after && (await changes.findMissed(after));
    if (subscription.beginnings > 0) return;
    if (!after || missed) return beginAtEnd(subscription, missed);
    subscription.isPending = false;
    return join(subscription, after);
  }

  function restart(subscription: Subscription, reason: string): void {
    beginAtEnd(subscription, reason).catch((error: unknown) => fail(subscription, error));
  }

  /** Begins at the stream's end, with a snapshot if its client asked for one. */
  async function beginAtEnd(subscription: Subscription, missed: string | undefined): Promise<void> {
    subscription.beginnings += 1;
    const { connection, id, wantsSnapshot, beginnings } = subscription;
    const end = changes.end;
    subscription.detach();
    subscription.from = end.seq;
    subscription.isPending = wantsSnapshot;
    if (missed) {
      onResync(missed);
      connection.send(messages.resync(id, missed, formatCursor(end)));
    }
    if (wantsSnapshot) await sendSnapshot(subscription, end);
    if (subscription.beginnings === beginnings) await join(subscription, end);
  }

  /** Sends the snapshot. `end` was read before it, so every change after `end` follows, and none is missing. */
  async function sendSnapshot(subscription: Subscription, end: Cursor): Promise<void> {
    const { connection, id, request, beginnings } = subscription;
    const state = await live.snapshot(request, connection.caller);
    if (subscription.beginnings !== beginnings) return;
    subscription.isPending = false;
    connection.send(messages.snapshot(id, state, formatCursor(end)), end.seq);
    // Changes wait on the stream until a large snapshot has been sent.
    const untilMs = performance.now() + snapshotReadMs;
    while (connection.unsentBytes > 0 && !connection.isEnded && performance.now() < untilMs) await delay(drainCheckMs);
  }

  /** Adds a subscription to a group. Opens it again if its principal changed while it was prepared. */
  async function join(subscription: Subscription, after: Cursor): Promise<void> {
    // The cursor comes from a replica that already follows a later life of the stream. This replica will begin again
    // too.
    const seq = after.epoch === changes.end.epoch ? after.seq : subscription.from;
    if (subscription.isLeft) return;
    if (subscription.isPlanned) groups.join(subscription, seq);
    else await reopen([subscription], () => seq);
  }

  function fail(subscription: Subscription, error: unknown): void {
    const { connection, id } = subscription;
    if (!(error instanceof AppError)) log.error({ err: error, subscription: id }, 'a subscription failed');
    if (connection.followed.get(id) !== subscription) return;
    if (isTemporary(error)) {
      endForReconnect(connection);
      return;
    }
    const refusal = error instanceof AppError ? error : internalError(error);
    connection.unfollow(id);
    connection.send(messages.error(refusal, id));
  }

  async function reopen(subscriptions: readonly Subscription[], afterOf: (one: Subscription) => number) {
    const beginnings = new Map(subscriptions.map((one) => [one, one.beginnings]));
    for (let first = 0; first < subscriptions.length; first += openedAtOnce) {
      const some = subscriptions.slice(first, first + openedAtOnce).filter(({ isLeft }) => !isLeft);
      // A snapshot's page was checked when the subscription was opened. Its changes do not depend on it.
      const results = await live.open(
        some.map(({ request: { page, perPage, sort, ...request }, connection }) => ({
          request,
          caller: connection.caller,
        })),
      );
      for (const [place, subscription] of some.entries()) {
        const result = results[place];
        if (subscription.isLeft || !result) continue;
        if ('refusal' in result) fail(subscription, result.refusal);
        else if (subscription.beginnings === beginnings.get(subscription)) {
          const after = afterOf(subscription);
          const isOther = result.plan.collectionId !== subscription.plan.collectionId;
          subscription.detach();
          subscription.setPlan(result.plan, result.values);
          // The group did not read the changes of another collection that has the name now.
          if (isOther) restart(subscription, 'schema');
          else groups.join(subscription, after);
        }
      }
    }
  }

  return {
    admit: (wanted, caller) => admitSubscriptions({ live, channels }, wanted, caller),
    begin,
    restart,
    rejoin: (group) => reopen([...group.members], (one) => one.through),
    async rejoinConnection(connection, change) {
      const subscriptions = [...connection.followed.values()].filter((one) => one instanceof Subscription);
      const joined = subscriptions.filter(({ isJoined }) => isJoined);
      const after = new Map(joined.map((one) => [one, Math.min(one.through, changes.end.seq)]));
      for (const subscription of joined) subscription.detach();
      change();
      channels.recheck(connection);
      try {
        await reopen(joined, (one) => after.get(one) ?? one.from);
      } catch (error) {
        // They have left their groups, so only a new connection resumes them.
        endForReconnect(connection);
        throw error;
      }
    },
  };
}
