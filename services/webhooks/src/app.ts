import { type Bus, createErasedRecords, type EventMessage, type EventStream, eventStream } from '@recordbus/bus';
import { type Database, mapDatabaseError } from '@recordbus/database';
import { createDispatcher as createRequestDispatcher } from '@recordbus/http';
import type { Service } from '@recordbus/http/service';
import type { Logger } from '@recordbus/process/logging';
import type { CollectionCache } from '@recordbus/schema';
import { createFilteredClient, type Settings } from '@recordbus/settings';
import { createDispatcher, type DispatcherOptions, maxUnderWay } from './delivery/dispatcher.ts';
import { createEgressScreen } from './delivery/egress-screen.ts';
import { createLanes } from './delivery/lane-worker.ts';
import { createStreamPlaces } from './delivery/stream-place.ts';
import { createEventConsumer } from './fan-out/event-consumer.ts';
import { createEventDays } from './fan-out/event-days.ts';
import { createFilterPlans } from './fan-out/filter-plans.ts';
import { createMatchedEvents } from './fan-out/matched-events.ts';
import { processBatch } from './fan-out/process-batch.ts';
import { createFailingMails } from './health/failing-mails.ts';
import { createHealthKeeper } from './health/health-keeper.ts';
import { findRecipient } from './health/owner-mail.ts';
import { createOwners } from './owners/owners.ts';
import { createReplays } from './replay/replays.ts';
import { createDeliveryDays } from './retention/delivery-days.ts';
import { createWebhookMetrics } from './webhook-metrics.ts';

interface WebhooksDeps {
  readonly log: Logger;
  readonly database: Database;
  readonly bus: Bus;
  /** The process's settings copy, loaded before the service starts and stopped after it. */
  readonly settings: Settings;
  /** The process's copy of the collections, loaded before the service starts and stopped after it. */
  readonly collections: CollectionCache;
  /** The event stream, when it is not the product's (events §2.1). */
  readonly stream?: EventStream;
}

/** A batch with more new deliveries than this, a claim's size, notifies the other replicas. */
const notifyFrom = 50;

/** Creates the webhooks service: it reads events from the stream, creates deliveries and sends them. */
export function createWebhooks(deps: WebhooksDeps): Service {
  const { log, database, bus, settings, collections, stream = eventStream } = deps;
  // The dispatcher limits each webhook's attempts. With a smaller limit for each origin, webhooks that hang would hold
  // up a healthy one at the same host.
  const client = createFilteredClient(settings, { maxSocketsPerOrigin: maxUnderWay });
  const ownersClient = createFilteredClient(settings, { maxSocketsPerOrigin: maxUnderWay }, 'always');
  const clientOf = ({ owner_collection }: { readonly owner_collection: string | null }) =>
    owner_collection === null ? client : ownersClient;
  const places = createStreamPlaces(bus, stream);
  const lanes = createLanes({ query: database.query, log, places, onFreed: () => dispatcher.wake() });
  const { readLife } = lanes;
  const owners = createOwners({ query: database.query, collections, settings, readLife });
  const { metrics, dispatcher, health, mails } = createDelivery(
    { ...deps, stream },
    { clientOf, recheck: owners.recheck, lanes },
  );
  const screen = createEgressScreen({ query: database.query, clientOf, log });
  const days = createEventDays(database.query);
  const matched = createMatchedEvents(database.query);
  const filters = createFilterPlans(database.query);
  const erased = createErasedRecords({ query: database.query, bus, log });
  const deliveryDays = createDeliveryDays({
    query: database.query,
    days,
    keepDays: () => settings.get('webhooks.retention_days'),
    log,
  });
  const replays = createReplays({
    query: database.query,
    bus,
    stream,
    days,
    filters,
    erased,
    readLife,
    log,
    onEnqueued,
  });
  const consumer = createEventConsumer({ bus, stream, log, handle, onAcknowledged });
  const endings: (() => void)[] = [];

  function onEnqueued(): void {
    dispatcher.wake();
    screen.wake();
  }

  async function handle(messages: readonly EventMessage[]): Promise<void> {
    const fanOut = { database, stream, days, matched, filters, owners, erased, readLife, log };
    const added = await processBatch(fanOut, messages);
    if (lanes.isUsed) lanes.note(Math.max(...messages.map(({ seq }) => seq)));
    if (added > 0) onEnqueued();
    if (added > notifyFrom) bus.notify('webhooks');
  }

  /** Only now ordered deliveries may be sent (delivery/claim-lanes). */
  function onAcknowledged(): void {
    if (!lanes.isUsed) return;
    places.forget();
    dispatcher.wakeSoon();
  }

  return {
    name: 'webhooks',
    routes: [],
    handle: createRequestDispatcher([], { log, mapError: mapDatabaseError }),
    metrics,
    checks: { database: () => database.ping(), bus: () => bus.ping() },
    async start() {
      await erased.start();
      await owners.start();
      await lanes.start();
      await deliveryDays.start();
      endings.push(
        bus.onNotice('webhooks', () => {
          lanes.check();
          onEnqueued();
        }),
        settings.onChange((changed) => {
          if (changed.has('webhooks.retention_days')) deliveryDays.wake();
          if (changed.has('hooks.http.deny') || changed.has('hooks.http.allow')) screen.wake();
        }),
      );
      dispatcher.start();
      screen.start();
      consumer.start();
      replays.start();
      mails.start();
    },
    warm: () => client.warm(),
    async stop() {
      for (const end of endings) end();
      await consumer.stop();
      await replays.stop();
      await erased.stop();
      await lanes.stop();
      await dispatcher.stop();
      await screen.stop();
      await health.stop();
      await mails.stop();
      await deliveryDays.stop();
      await client.close();
      await ownersClient.close();
    },
  };
}

/** Creates the dispatcher, with the webhooks' metrics, health and mails, which follow its attempts. */
function createDelivery(
  { log, database, bus, settings, collections, stream }: Required<WebhooksDeps>,
  parts: Pick<DispatcherOptions, 'clientOf' | 'recheck' | 'lanes'>,
) {
  const { query } = database;
  const onMail = () => bus.notify('mail');
  const mails = createFailingMails({ database, collections, settings, log, onMail });
  const health = createHealthKeeper({
    database,
    log,
    policy: () => ({
      pauseAfterSec: settings.get('webhooks.pause_after_seconds'),
      pauseSec: settings.get('webhooks.pause_seconds'),
      disableAfterSec: settings.get('webhooks.disable_after_seconds'),
    }),
    onReopened: () => bus.notify('webhooks'),
    findRecipient: (id) => findRecipient({ query, collections, settings }, id),
    onFailed: mails.wakeSoon,
    onDisabled() {
      bus.notify('outbox');
      onMail();
    },
  });
  const underWay = () => dispatcher.underWay;
  const { metrics, begin, record } = createWebhookMetrics({ query, bus, stream, underWay });
  const dispatcher = createDispatcher({
    query,
    log,
    ...parts,
    onBegin: begin,
    onRecorded(outcomes) {
      record(outcomes);
      health.note(outcomes);
    },
  });
  return { metrics, dispatcher, health, mails };
}
