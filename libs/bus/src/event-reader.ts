import { setTimeout as sleep } from 'node:timers/promises';
import type { ConsumerMessages, JsMsg } from '@nats-io/jetstream';
import type { Logger } from '@recordbus/shared/logging';
import type { Bus } from './bus.ts';
import { type DurableConsumer, ensureConsumer } from './ensure-consumer.ts';
import { type EventStream, ensureEventStream } from './event-stream.ts';

/** Reads the event stream together with the other replicas: every message goes to one of them. */
export interface EventReader {
  start(): void;
  /** Takes no more messages. Those that were taken are the taker's to finish or to give back. */
  stop(): Promise<void>;
}

interface EventReaderOptions {
  readonly bus: Bus;
  readonly stream: EventStream;
  readonly consumer: DurableConsumer;
  /** How many messages may wait in this process before they are taken. */
  readonly maxMessages: number;
  /** Is given one message after the other, the next one when it resolves; must not throw. */
  readonly take: (message: JsMsg) => void | Promise<void>;
  readonly log: Logger;
}

const retryMs = 1000;

/**
 * Makes the reader of a durable consumer; it does nothing before `start`. Stream and consumer are made where they are
 * missing, also when they vanish later, and a bus that is away is waited for.
 */
export function createEventReader({ bus, stream, consumer, maxMessages, take, log }: EventReaderOptions): EventReader {
  const ending = new AbortController();
  let consuming: ConsumerMessages | undefined;
  let reading = Promise.resolve();

  async function consume(): Promise<void> {
    await ensureEventStream(bus, stream);
    const durable = await ensureConsumer(bus, stream, consumer);
    consuming = await durable.consume({
      max_messages: maxMessages,
      expires: 10_000,
      idle_heartbeat: 5000,
      abort_on_missing_resource: true,
    });
    // Who stopped while the consumer was being made had nothing to close. Closing ends with the loop, so not awaited.
    if (ending.signal.aborted) void consuming.close();
    for await (const message of consuming) await take(message);
  }

  async function read(): Promise<void> {
    while (!ending.signal.aborted) {
      try {
        if (bus.connected) await consume();
      } catch (error) {
        if (ending.signal.aborted) return;
        log.warn({ err: error, stream: stream.name, consumer: consumer.name }, 'events are not read, trying on');
      }
      await sleep(retryMs, undefined, { signal: ending.signal }).catch(() => {});
    }
  }

  return {
    start() {
      reading = read();
    },
    async stop() {
      ending.abort();
      await consuming?.close();
      await reading;
    },
  };
}
