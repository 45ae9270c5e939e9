import { setTimeout as sleep } from 'node:timers/promises';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { unavailable } from '@recordbus/shared/errors';
import type { Logger } from '@recordbus/shared/logging';
import { type Metrics, sampledGauge } from '@recordbus/shared/metrics';
import type { Bus } from './bus.ts';
import { createNotices } from './notices.ts';
import { readServerAddresses } from './server-addresses.ts';

interface BusOptions {
  /** The URLs of the servers, separated by commas. */
  readonly urls: string;
  /** Shown by the server as the name of the connection. */
  readonly name: string;
  readonly log: Logger;
  /** Gets the metrics of the connection. */
  readonly metrics?: Metrics;
}

const reconnectWaitMs = 250;
/** A peer that vanished without closing is noticed after three intervals. */
const pingIntervalMs = 10_000;
const answerTimeoutMs = 2000;
const closeTimeoutMs = 3000;
/** While the bus is down, the log has a line this often. */
const remindMs = 30_000;

/** Connects in the background and retries without limit; returns at once, whether or not the bus is up. */
export function connectBus({ urls, name, log, metrics }: BusOptions): Bus {
  const ending = new AbortController();
  const connectHandlers = new Set<() => void>();
  let connection: NatsConnection | undefined;
  let connected = false;
  let generation = 0;

  const connects = metrics?.counter(
    'recordbus_bus_connects_total',
    'Connections made to the bus, including the first.',
  );
  if (metrics)
    sampledGauge(metrics, {
      name: 'recordbus_bus_connected',
      help: '1 while there is a connection to the bus.',
      sample: () => Number(connected),
    });

  const live = (): NatsConnection => {
    if (!connection || !connected) throw unavailable('the bus does not answer');
    return connection;
  };
  const serverInfo = () => {
    const { info } = live();
    if (!info) throw unavailable('the bus does not answer');
    return info;
  };
  const notices = createNotices(() => (connected ? connection : undefined), log);

  function onConnected(): void {
    connected = true;
    generation += 1;
    connects?.inc();
    log.info({ server: connection?.getServer() }, 'connected to the bus');
    if (generation > 1) notices.wakeAll();
    for (const handler of connectHandlers) handler();
  }

  async function follow(made: NatsConnection): Promise<void> {
    for await (const status of made.status()) {
      if (status.type === 'disconnect') {
        connected = false;
        log.warn({ server: status.server }, 'lost the connection to the bus, reconnecting');
      } else if (status.type === 'reconnect') onConnected();
      else if (status.type === 'error') log.error({ err: status.error }, 'the bus refused an operation');
    }
    connected = false;
  }

  // The loop replaces the client's own wait for its first connection, which cannot be aborted.
  async function keepConnecting(): Promise<void> {
    const options = {
      ...readServerAddresses(urls),
      name: `recordbus ${name}`,
      maxReconnectAttempts: -1,
      reconnectTimeWait: reconnectWaitMs,
      ignoreAuthErrorAbort: true,
      pingInterval: pingIntervalMs,
      timeout: 5000,
      noAsyncTraces: true,
    };
    let remindAtMs = 0;
    while (!ending.signal.aborted) {
      try {
        const made = await connect(options);
        if (ending.signal.aborted) return await made.close();
        connection = made;
        notices.subscribe(made);
        onConnected();
        await follow(made);
      } catch (error) {
        if (performance.now() >= remindAtMs) {
          log.warn({ err: error }, 'cannot connect to the bus, retrying');
          remindAtMs = performance.now() + remindMs;
        }
        await sleep(reconnectWaitMs, undefined, { signal: ending.signal }).catch(() => {});
      }
    }
  }
  const following = keepConnecting();

  return {
    notify: notices.notify,
    onNotice: notices.onNotice,
    get connected() {
      return connected;
    },
    get generation() {
      return generation;
    },
    onConnect(handler) {
      connectHandlers.add(handler);
      if (connected) handler();
      return () => connectHandlers.delete(handler);
    },
    jetstream: () => jetstream(live()),
    jetstreamManager: async () => jetstreamManager(live(), { checkAPI: false }),
    maxPayloadBytes: () => serverInfo().max_payload,
    serverVersion: () => serverInfo().version,
    async ping() {
      const answer = await Promise.race([live().flush(), sleep(answerTimeoutMs, 'late', { ref: false })]);
      if (answer === 'late') throw unavailable('the bus does not answer');
    },
    async close() {
      ending.abort();
      if (connection && connected)
        await Promise.race([connection.drain(), sleep(closeTimeoutMs, undefined, { ref: false })]);
      await connection?.close();
      await following;
    },
  };
}
