import { setTimeout as sleep } from 'node:timers/promises';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { unavailable } from '@recordbus/errors';
import type { Logger } from '@recordbus/process/logging';
import { type Metrics, sampledGauge } from '@recordbus/process/metrics';
import { type Bus, nats } from './bus.ts';
import { keepConnected } from './bus-connection.ts';
import { findConsumerNames } from './consumer-names.ts';
import { createMessages } from './messages.ts';
import { createNotices } from './notices.ts';
import { createQuestions } from './questions.ts';
import { readServerAddresses } from './server-addresses.ts';
import { createStreamPublisher } from './stream-publisher.ts';

interface BusOptions {
  /** The servers' URLs, separated by commas. */
  readonly urls: string;
  /** Shown by the server as the connection's name. */
  readonly name: string;
  readonly log: Logger;
  /** Gets the connection's metrics. */
  readonly metrics?: Metrics;
}

const answerTimeoutMs = 2000;

/**
 * Connects in the background and retries without limit; returns at once, whether or not the bus is up. Throws
 * ConfigError for URLs that name no server.
 */
export function connectBus({ urls, name, log, metrics }: BusOptions): Bus {
  const connectHandlers = new Set<() => void>();
  let firstConnectedAtMs: number | undefined;
  const countConnect = metrics && measureConnection(metrics, () => connection.live !== undefined);
  const notices = createNotices(() => connection.live, log);
  const messages = createMessages(() => connection.live, log);
  const questions = createQuestions(() => live(), log);
  const publisher = createStreamPublisher(() => live());
  const connection = keepConnected({
    servers: { ...readServerAddresses(urls), name: `recordbus ${name}` },
    log,
    onMade(made) {
      notices.subscribe(made);
      messages.subscribeOn(made);
      questions.subscribeOn(made);
      publisher.subscribeOn(made);
    },
    onConnected(generation) {
      countConnect?.();
      firstConnectedAtMs ??= performance.now();
      if (generation > 1) notices.wakeAll();
      for (const handler of connectHandlers) handler();
    },
  });

  const live = (): NatsConnection => {
    if (!connection.live) throw unavailable('the bus does not answer');
    return connection.live;
  };
  const serverInfo = () => {
    const { info } = live();
    if (!info) throw unavailable('the bus does not answer');
    return info;
  };

  return {
    notify: notices.notify,
    onNotice: notices.onNotice,
    publish: messages.publish,
    subscribe: messages.subscribe,
    ask: questions.ask,
    answerAt: questions.answerAt,
    get connected() {
      return connection.live !== undefined;
    },
    get generation() {
      return connection.generation;
    },
    get connectedForMs() {
      return firstConnectedAtMs === undefined ? 0 : performance.now() - firstConnectedAtMs;
    },
    onConnect(handler) {
      connectHandlers.add(handler);
      if (connection.live) handler();
      return () => connectHandlers.delete(handler);
    },
    [nats]: {
      publishToStream: publisher.publish,
      jetstream: () => jetstream(live()),
      jetstreamManager: async () => jetstreamManager(live(), { checkAPI: false }),
      consumerNames: async (stream) => findConsumerNames(live(), stream),
    },
    maxPayloadBytes: () => serverInfo().max_payload,
    serverVersion: () => serverInfo().version,
    async ping() {
      const answer = await Promise.race([live().flush(), sleep(answerTimeoutMs, 'late', { ref: false })]);
      if (answer === 'late') throw unavailable('the bus does not answer');
    },
    close: connection.close,
  };
}

/** Adds the connection's metrics. Returns the function that counts a connect. */
function measureConnection(metrics: Metrics, isConnected: () => boolean): () => void {
  const connects = metrics.counter('recordbus_bus_connects_total', 'Connections made to the bus, including the first.');
  sampledGauge(metrics, {
    name: 'recordbus_bus_connected',
    help: '1 while there is a connection to the bus.',
    sample: () => Number(isConnected()),
  });
  return () => connects.inc();
}
