import { type Bus, createErasedRecords, type EventStream, eventStream } from '@recordbus/bus';
import type { ValueCipher } from '@recordbus/crypto';
import { type Database, mapDatabaseError } from '@recordbus/database';
import { createDispatcher } from '@recordbus/http';
import type { Service } from '@recordbus/http/service';
import { startSlice } from '@recordbus/limits/time-slice';
import type { LiveReads } from '@recordbus/live';
import { createIdentify, createMovedTokens } from '@recordbus/moved-sessions';
import type { Logger } from '@recordbus/process/logging';
import { createAccounts } from '@recordbus/sessions';
import type { Settings } from '@recordbus/settings';
import { createTickets, createTokenVerifier } from '@recordbus/tokens';
import type { Connection } from './connection/connection.ts';
import { endForReconnect } from './connection/end-for-reconnect.ts';
import { createRealtimeParts } from './realtime-parts.ts';
import { publishRoute } from './routes/publish.ts';
import { subscribeByBody, subscribeByQuery } from './routes/subscribe.ts';
import { ticketRoute } from './routes/ticket.ts';
import { createUpgrade } from './websocket/upgrade.ts';

/** When a replica's clients reconnect to the others. */
const drainDelay = { minMs: 0, spreadMs: 5000 } as const;

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
  /** Decrypts the keys of accounts that have moved in. */
  readonly cipher: ValueCipher;
  /** The event stream; by default the one in events §2.1. */
  readonly stream?: EventStream;
}

/** Creates the realtime service: connections that stay open and send changes to their clients. */
export function createRealtime(deps: RealtimeDeps): Service {
  const { log, database, bus, settings, live, secret, cipher, stream = eventStream } = deps;
  const accounts = createAccounts({ database, bus, log });
  const erased = createErasedRecords({ query: database.query, bus, log });
  const parts = createRealtimeParts({ log, bus, stream, settings, erased, live, accounts });
  let isDraining = false;
  const opening = { parts, isDraining: () => isDraining };
  const routes = [
    subscribeByQuery(opening),
    subscribeByBody(opening),
    publishRoute(parts),
    ticketRoute({ tickets: createTickets(secret) }),
  ];
  const identify = createIdentify({
    verifier: createTokenVerifier(secret),
    accounts,
    movedTokens: createMovedTokens({ database, cipher }),
  });

  return {
    name: 'realtime',
    routes,
    handle: createDispatcher(routes, { log, mapError: mapDatabaseError }),
    upgrade: createUpgrade({ ...opening, identify, log }),
    checks: { database: () => database.ping(), bus: () => bus.ping() },
    metrics: parts.metrics.metrics,
    async start() {
      await accounts.start();
      await erased.start();
      parts.start();
    },
    async drain() {
      isDraining = true;
      await drainConnections(parts.connections);
    },
    async stop() {
      await parts.stop();
      await erased.stop();
      await accounts.stop();
    },
  };
}

/** Asks every client to reconnect, which leads to another replica, and closes its connection. */
async function drainConnections(connections: Iterable<Connection>): Promise<void> {
  const slice = startSlice();
  for (const connection of [...connections]) {
    endForReconnect(connection, drainDelay);
    if (slice.isOver()) await slice.pause();
  }
}
