import type { Bus, ErasedRecords, EventStream } from '@recordbus/bus';
import type { LiveReads } from '@recordbus/live';
import { every, skipped } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import type { Accounts } from '@recordbus/sessions';
import type { Settings } from '@recordbus/settings';
import { createAccessChanges } from './access/access-changes.ts';
import { createSessionWatch, type SessionWatch } from './access/session-watch.ts';
import { type Channels, createChannels } from './channels/channels.ts';
import { type ConnectionLimits, createConnectionLimits } from './connection/connection-limits.ts';
import { type Connections, createConnections } from './connection/connections.ts';
import type { Group } from './follow/group.ts';
import { createGroups } from './follow/groups.ts';
import { Subscription } from './follow/subscription.ts';
import { messages } from './messages/messages.ts';
import { createRealtimeMetrics, type RealtimeMetrics } from './realtime-metrics.ts';
import { type ChangeLog, createChangeLog } from './stream/change-log.ts';
import { formatCursor } from './stream/cursor.ts';
import { createSubscriber, type Subscriber } from './subscribe/subscriber.ts';

export interface RealtimePartsDeps {
  readonly log: Logger;
  readonly bus: Bus;
  readonly stream: EventStream;
  readonly settings: Settings;
  readonly erased: ErasedRecords;
  readonly live: LiveReads;
  readonly accounts: Accounts;
}

/** What this replica's connections share. */
export interface RealtimeParts {
  readonly changes: ChangeLog;
  readonly connections: Connections;
  readonly channels: Channels;
  readonly limits: ConnectionLimits;
  readonly subscriber: Subscriber;
  readonly sessions: SessionWatch;
  readonly metrics: RealtimeMetrics;
  start(): void;
  stop(): Promise<void>;
}

/** How often the plans are checked without a notice, in milliseconds. */
const planCheckMs = 5000;

/** Creates the service's parts. Nothing runs before `start`. */
export function createRealtimeParts({
  log,
  bus,
  stream,
  settings,
  erased,
  live,
  accounts,
}: RealtimePartsDeps): RealtimeParts {
  const changes: ChangeLog = createChangeLog({
    bus,
    stream,
    erased,
    log,
    isUsed: () => connections.size > 0,
    onChange(change) {
      groups.wake(change);
      channels.noteChange(change);
    },
    onMissed(reason) {
      groups.clear();
      for (const connection of connections) {
        connection.restart();
        for (const followed of [...connection.followed.values()])
          if (followed instanceof Subscription) subscriber.restart(followed, reason);
      }
    },
  });

  function resync(subscription: Subscription, reason: string): void {
    const { connection, id } = subscription;
    metrics.onResync(reason);
    connection.send(messages.resync(id, reason, formatCursor(changes.end)));
  }

  function endAll(group: Group, end: (subscription: Subscription) => void): void {
    for (const subscription of [...group.members]) end(subscription);
  }

  const access = createAccessChanges({ resync: (subscription) => resync(subscription, 'access') });
  const groups = createGroups({
    live,
    changes,
    log,
    onSent: (kind) => metrics.onSent(kind),
    onCrossed: access.note,
    onStale: (group) => subscriber.rejoin(group),
    onMissed: (group, reason) => endAll(group, (one) => subscriber.restart(one, reason)),
    onTooExpensive: (group, error) =>
      endAll(group, ({ connection, id }) => {
        connection.unfollow(id);
        connection.send(messages.error(error, id));
      }),
  });
  const channels = createChannels({ bus, settings, live, log, onSent: (type) => metrics.onSent(type) });
  const subscriber = createSubscriber({
    live,
    changes,
    groups,
    channels,
    log,
    onResync: (reason) => metrics.onResync(reason),
  });
  const connections = createConnections({ log, end: () => endOf(changes) });
  const metrics = createRealtimeMetrics({
    connections: () => connections.size,
    subscriptions: () => [...groups].reduce((sum, { members }) => sum + members.size, channels.size),
    behind: () => behindOf(groups, endOf(changes)?.seq ?? 0),
  });
  const planChecks = every({
    name: "check live subscriptions' plans",
    log,
    intervalMs: planCheckMs,
    async run() {
      const present = [...groups];
      if (present.length === 0) return skipped;
      const current = await live.isCurrent(present.map(({ plan }) => plan));
      for (const [place, group] of present.entries()) if (!current[place]) group.replan();
      return undefined;
    },
  });
  const sessions = createSessionWatch({ accounts, log });
  const limits = createConnectionLimits(() => ({
    perPrincipal: settings.get('realtime.max_connections_per_principal'),
    perAddress: settings.get('realtime.max_connections_per_address'),
  }));
  let endNotices = () => {};

  return {
    changes,
    connections,
    channels,
    limits,
    subscriber,
    sessions,
    metrics,
    start() {
      changes.start();
      connections.start();
      sessions.start();
      channels.start();
      planChecks.start();
      endNotices = bus.onNotice('schema', planChecks.wake);
    },
    async stop() {
      endNotices();
      sessions.stop();
      access.stop();
      await planChecks.stop();
      groups.stop();
      await connections.stop();
      await channels.stop();
      await changes.stop();
    },
  };
}

/** The stream's end, or undefined before it was reached. */
function endOf(changes: Pick<ChangeLog, 'end'>): { readonly seq: number; readonly text: string } | undefined {
  try {
    const { end } = changes;
    return { seq: end.seq, text: formatCursor(end) };
  } catch {
    return undefined;
  }
}

const behindOf = (groups: Iterable<Group>, end: number): number =>
  [...groups].reduce((most, { through }) => Math.max(most, end - Math.min(through, end)), 0);
