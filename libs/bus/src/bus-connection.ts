import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type NatsConnection, type NodeConnectionOptions } from '@nats-io/transport-node';
import type { Logger } from '@recordbus/process/logging';

/** A connection that reconnects whenever it is lost. */
export interface BusConnection {
  /** Undefined while there is no connection. */
  readonly live: NatsConnection | undefined;
  /** Counts the connections made. */
  readonly generation: number;
  /** Flushes pending messages and closes the connection. */
  close(): Promise<void>;
}

interface ConnectionOptions {
  readonly servers: NodeConnectionOptions;
  readonly log: Logger;
  /** Called once for each new connection, before `onConnected`. Its subscriptions survive reconnects. */
  readonly onMade: (connection: NatsConnection) => void;
  /** Called after each connect, with its generation. */
  readonly onConnected: (generation: number) => void;
}

const reconnectWaitMs = 250;
/** After three intervals without an answer the server counts as lost, and the client tries another one. */
const pingIntervalMs = 3000;
const closeTimeoutMs = 3000;
/** How often a line is logged while the bus is down. */
const remindMs = 30_000;

/** Connects in the background and retries without limit; returns at once. */
export function keepConnected({ servers, log, onMade, onConnected }: ConnectionOptions): BusConnection {
  const ending = new AbortController();
  let connection: NatsConnection | undefined;
  let isConnected = false;
  let generation = 0;

  function noteConnected(): void {
    isConnected = true;
    generation += 1;
    log.info({ server: connection?.getServer() }, 'connected to the bus');
    onConnected(generation);
  }

  async function follow(made: NatsConnection): Promise<void> {
    for await (const status of made.status()) {
      if (status.type === 'disconnect') {
        isConnected = false;
        log.warn({ server: status.server }, 'lost the connection to the bus, reconnecting');
      } else if (status.type === 'reconnect') noteConnected();
      else if (status.type === 'error') log.error({ err: status.error }, 'the bus refused an operation');
    }
    isConnected = false;
  }

  const following = keepConnecting(servers, ending.signal, log, async (made) => {
    connection = made;
    onMade(made);
    noteConnected();
    await follow(made);
  });

  return {
    get live() {
      return isConnected ? connection : undefined;
    },
    get generation() {
      return generation;
    },
    async close() {
      ending.abort();
      if (connection && isConnected)
        await Promise.race([connection.drain(), sleep(closeTimeoutMs, undefined, { ref: false })]);
      await connection?.close();
      await following;
    },
  };
}

/** Connects until `ending` aborts, and reconnects whenever `use` has ended for a connection. */
async function keepConnecting(
  servers: NodeConnectionOptions,
  ending: AbortSignal,
  log: Logger,
  use: (connection: NatsConnection) => Promise<void>,
): Promise<void> {
  const options: NodeConnectionOptions = {
    ...servers,
    maxReconnectAttempts: -1,
    reconnectTimeWait: reconnectWaitMs,
    ignoreAuthErrorAbort: true,
    pingInterval: pingIntervalMs,
    timeout: 5000,
    noAsyncTraces: true,
  };
  let remindAtMs = 0;
  // The loop replaces the client's own wait for its first connection, which cannot be aborted.
  while (!ending.aborted) {
    try {
      const made = await connect(options);
      if (ending.aborted) return await made.close();
      await use(made);
    } catch (error) {
      if (performance.now() >= remindAtMs) {
        log.warn({ err: error }, 'cannot connect to the bus, retrying');
        remindAtMs = performance.now() + remindMs;
      }
      await sleep(reconnectWaitMs, undefined, { signal: ending }).catch(() => {});
    }
  }
}
