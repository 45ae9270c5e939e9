import type { JsMsg } from '@nats-io/jetstream';
import { type Bus, type EventStream, eventStream } from '@recordbus/bus';
import type { Envelope } from '@recordbus/crypto';
import { type Database, mapDatabaseError } from '@recordbus/database';
import { createFilteredClient, createSettings } from '@recordbus/settings';
import { createDispatcher as createRequestDispatcher } from '@recordbus/shared/http';
import type { Logger } from '@recordbus/shared/logging';
import type { Service } from '@recordbus/shared/service';
import { createDispatcher, maxUnderWay } from './delivery/dispatcher.ts';
import { createEgressScreen } from './delivery/egress-screen.ts';
import { createEventConsumer } from './fan-out/event-consumer.ts';
import { createEventDays } from './fan-out/event-days.ts';
import { handOut } from './fan-out/hand-out.ts';
import { createHealthKeeper } from './health/health-keeper.ts';
import { createLogKeeper } from './retention/log-keeper.ts';
import { createWebhookMetrics } from './webhook-metrics.ts';

interface WebhooksDeps {
  readonly log: Logger;
  readonly database: Database;
  readonly bus: Bus;
  /** Opens secret settings. */
  readonly envelope: Envelope;
  /** Where events come from, when it is not the stream of interface §6. */
  readonly stream?: EventStream;
}

/** With more new deliveries than one claim takes, the other replicas are told. */
const shareFrom = 50;

/** The webhooks service: takes events off the stream, makes deliveries of them, and sends those. */
export function createWebhooks({ log, database, bus, envelope, stream = eventStream }: WebhooksDeps): Service {
  const settings = createSettings({ database, bus, log, envelope });
  // A webhook's share of the attempts is what bounds it. A bound for each origin as well would let webhooks that hang
  // stand in the way of a healthy one at the same host.
  const client = createFilteredClient(settings, { maxSocketsPerOrigin: maxUnderWay });
  const health = createHealthKeeper({
    database,
    log,
    policy: () => ({
      pauseAfterSec: settings.get('webhooks.pause_after_seconds'),
      pauseSec: settings.get('webhooks.pause_seconds'),
      disableAfterSec: settings.get('webhooks.disable_after_seconds'),
    }),
    onReopened: () => bus.notify('webhooks'),
    onEvent: () => bus.notify('outbox'),
  });
  const { metrics, begin, record } = createWebhookMetrics({
    query: database.query,
    bus,
    stream,
    underWay: () => dispatcher.underWay,
  });
  const dispatcher = createDispatcher({
    query: database.query,
    client,
    log,
    onBegin: begin,
    onRecorded(outcomes) {
      record(outcomes);
      health.note(outcomes);
    },
  });
  const screen = createEgressScreen({ query: database.query, client, log });
  const days = createEventDays(database.query);
  const keeper = createLogKeeper({
    query: database.query,
    days,
    keepDays: () => settings.get('webhooks.retention_days'),
    log,
  });
  const consumer = createEventConsumer({ bus, stream, log, handle });
  const endings: (() => void)[] = [];

  function onEnqueued(): void {
    dispatcher.wake();
    screen.wake();
  }

  async function handle(messages: readonly JsMsg[]): Promise<void> {
    const made = await handOut({ database, days, log }, messages);
    if (made > 0) onEnqueued();
    if (made > shareFrom) bus.notify('webhooks');
  }

  return {
    name: 'webhooks',
    routes: [],
    handle: createRequestDispatcher([], { log, mapError: mapDatabaseError }),
    metrics,
    checks: { database: () => database.ping(), bus: () => bus.ping() },
    async start() {
      await settings.start();
      await keeper.start();
      endings.push(
        bus.onNotice('webhooks', onEnqueued),
        settings.onChange((changed) => {
          if (changed.has('webhooks.retention_days')) keeper.wake();
          if (changed.has('hooks.http.deny') || changed.has('hooks.http.allow')) screen.wake();
        }),
      );
      dispatcher.start();
      screen.start();
      consumer.start();
    },
    async stop() {
      for (const end of endings) end();
      await consumer.stop();
      await dispatcher.stop();
      await screen.stop();
      await health.stop();
      await keeper.stop();
      await client.close();
      await settings.stop();
    },
  };
}
