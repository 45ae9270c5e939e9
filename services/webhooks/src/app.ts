import type { JsMsg } from '@nats-io/jetstream';
import { type Bus, type EventStream, eventStream } from '@recordbus/bus';
import { type Database, mapDatabaseError } from '@recordbus/database';
import { createEgressClient, parseEgressRules } from '@recordbus/egress';
import type { Settings } from '@recordbus/settings';
import { createDispatcher as createRequestDispatcher } from '@recordbus/shared/http';
import type { Logger } from '@recordbus/shared/logging';
import type { Service } from '@recordbus/shared/service';
import { createDispatcher } from './delivery/dispatcher.ts';
import { createEventConsumer } from './fan-out/event-consumer.ts';
import { createEventDays } from './fan-out/event-days.ts';
import { handOut } from './fan-out/hand-out.ts';

export interface WebhooksDeps {
  readonly log: Logger;
  readonly database: Database;
  readonly bus: Bus;
  /** Loaded already; whoever made them starts and stops them. */
  readonly settings: Pick<Settings, 'get' | 'onChange'>;
  readonly stream?: EventStream;
}

const hourMs = 3600 * 1000;
/** With more new deliveries than one claim takes, the other replicas are told. */
const shareFrom = 50;

/** The webhooks service: takes events off the stream, makes deliveries of them, and sends those. */
export function createWebhooks({ log, database, bus, settings, stream = eventStream }: WebhooksDeps): Service {
  const readRules = () =>
    parseEgressRules({ deny: settings.get('hooks.http.deny'), allow: settings.get('hooks.http.allow') });
  let rules = readRules();
  const client = createEgressClient({ rules: () => rules });
  const dispatcher = createDispatcher({ query: database.query, client, log });
  const days = createEventDays(database.query);
  const consumer = createEventConsumer({ bus, stream, log, handle });
  const endings: (() => void)[] = [];
  let daily: NodeJS.Timeout | undefined;

  async function handle(messages: readonly JsMsg[]): Promise<void> {
    const made = await handOut({ database, days, log }, messages);
    if (made > 0) dispatcher.wake();
    if (made > shareFrom) bus.notify('webhooks');
  }

  return {
    name: 'webhooks',
    routes: [],
    handle: createRequestDispatcher([], { log, mapError: mapDatabaseError }),
    checks: { database: () => database.ping(), bus: () => bus.ping() },
    async start() {
      await days.ensureAhead();
      daily = setInterval(() => {
        days.ensureAhead().catch((error) => log.warn({ err: error }, 'the days to come were not prepared'));
      }, hourMs);
      endings.push(
        bus.onNotice('webhooks', dispatcher.wake),
        settings.onChange(() => {
          rules = readRules();
          client.reset();
        }),
      );
      dispatcher.start();
      consumer.start();
    },
    async stop() {
      clearInterval(daily);
      for (const end of endings) end();
      await consumer.stop();
      await dispatcher.stop();
      await client.close();
    },
  };
}
