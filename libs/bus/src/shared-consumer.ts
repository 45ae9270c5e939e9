import { every, skipped } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import type { Bus } from './bus.ts';
import { consumeMessages } from './consume-messages.ts';
import { type DurableConsumer, ensureConsumer } from './ensure-consumer.ts';
import { type ConsumedMessage, consumedMessage } from './event-message.ts';
import { type EventStream, ensureEventStream } from './event-stream.ts';
import { findGap, type StreamGap } from './stream-gap.ts';

/** Consumes the event stream together with the other replicas: each message is delivered to one of them. */
export interface SharedConsumer {
  start(): void;
  /** Stops taking messages. The caller must still acknowledge or return the messages that it has. */
  stop(): Promise<void>;
}

interface SharedConsumerOptions {
  readonly bus: Bus;
  readonly stream: EventStream;
  readonly consumer: DurableConsumer;
  /** How many messages may wait in this process. */
  readonly maxMessages: number;
  /** Called with one message at a time, and with the next one after it has resolved. Must not throw. */
  readonly take: (message: ConsumedMessage) => void | Promise<void>;
  readonly log: Logger;
}

const retryMs = 1000;

/**
 * Creates this process's part of a durable consumer; it does nothing before `start`. It creates the stream and the
 * consumer when they are missing, even if they vanish later. It waits while the bus is down.
 */
export function createSharedConsumer(options: SharedConsumerOptions): SharedConsumer {
  const { bus, stream, consumer, maxMessages, take, log } = options;
  const reading = every({
    name: 'read events',
    log,
    fields: () => ({ stream: stream.name, consumer: consumer.name }),
    intervalMs: retryMs,
    async run(ending) {
      if (!bus.connected) return skipped;
      // An error caused by the stop is not a failure.
      await consume(ending).catch((error) => {
        if (!ending.aborted) throw error;
      });
    },
  });

  async function consume(ending: AbortSignal): Promise<void> {
    const state = await ensureEventStream(bus, stream);
    const durable = await ensureConsumer(bus, stream, consumer);
    logGap(findGap(state, await durable.info(true), consumer));
    await consumeMessages({
      bus,
      consumer: durable,
      maxMessages,
      take: (message) => take(consumedMessage(message)),
      ending,
    });
  }

  /** Logs that this consumer has missed events. */
  function logGap(gap: StreamGap | undefined): void {
    if (!gap) return;
    const fields = { stream: stream.name, consumer: consumer.name, from: gap.from, to: gap.to };
    if (gap.isPartial) log.info(fields, 'the stream begins after the last event that this consumer read');
    else log.warn(fields, 'the stream dropped events that this consumer had not read');
  }

  return { start: reading.start, stop: reading.stop };
}
