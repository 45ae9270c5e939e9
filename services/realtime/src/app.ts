import { type Bus, type EventStream, eventStream } from '@recordbus/bus';
import { type Database, mapDatabaseError } from '@recordbus/database';
import { createDispatcher } from '@recordbus/http';
import type { Service } from '@recordbus/http/service';
import type { LiveReads } from '@recordbus/live';
import type { Logger } from '@recordbus/process/logging';
import { createAccounts } from '@recordbus/sessions';
import type { Settings } from '@recordbus/settings';
import { createTickets, createTokenVerifier } from '@recordbus/tokens';
import { drainConnections } from './drain.ts';
import { createRealtimeParts } from './realtime-parts.ts';
import { publishRoute } from './routes/publish.ts';
import { subscribeByBody, subscribeByQuery } from './routes/subscribe.ts';
import { ticketRoute } from './routes/ticket.ts';
import { createUpgrade } from './websocket/upgrade.ts';

interface RealtimeDeps {
  readonly log: Logger;
  /** Only for sessions. The service writes nothing. */
  readonly database: Database;
  readonly bus: Bus;
  /** The process's settings copy, loaded before the service starts and stopped after it. */
  readonly settings: Settings;
  /** Calls to the records service. */
  readonly live: LiveReads;
  /** The raw bytes of the secret that signs tokens. */
  readonly secret: Uint8Array;
  /** The event stream; by default the one in events §2.1. */
  readonly stream?: EventStream;
}

/** Creates the realtime service: connections that stay open and send changes to their clients. */
export function createRealtime(deps: RealtimeDeps): Service {
  const { log, database, bus, settings, live, secret, stream = eventStream } = deps;
  const accounts = createAccounts({ database, bus, log });
  const parts = createRealtimeParts({ log, bus, stream, settings, live, accounts });
  let isDraining = false;
  const opening = { parts, isDraining: () => isDraining };
  const routes = [
    subscribeByQuery(opening),
    subscribeByBody(opening),
    publishRoute(parts),
    ticketRoute({ tickets: createTickets(secret) }),
  ];
  const verifier = createTokenVerifier(secret);

  return {
    name: 'realtime',
    routes,
    handle: createDispatcher(routes, { log, mapError: mapDatabaseError }),
    upgrade: createUpgrade({ ...opening, accounts, verifier, log }),
    checks: { database: () => database.ping(), bus: () => bus.ping() },
    metrics: parts.metrics.metrics,
    async start() {
      await accounts.start();
      parts.start();
    },
    async drain() {
      isDraining = true;
      await drainConnections(parts.connections);
    },
    async stop() {
      await parts.stop();
      await accounts.stop();
    },
  };
}
