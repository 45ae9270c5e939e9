import type { ConsumerMessages, JsMsg } from '@nats-io/jetstream';
import { every, skipped } from '@recordbus/shared/background';
import type { Logger } from '@recordbus/shared/logging';
import type { Bus } from './bus.ts';
import { type DurableConsumer, ensureConsumer } from './ensure-consumer.ts';
import { type EventStream, ensureEventStream } from './event-stream.ts';
import { findGap, type StreamGap } from './stream-gap.ts';

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
  let consuming: ConsumerMessages | undefined;
  const reading = every({
    name: 'read events',
    log,
    fields: () => ({ stream: stream.name, consumer: consumer.name }),
    intervalMs: retryMs,
    async run(ending) {
      if (!bus.connected) return skipped;
      // What breaks when the reader stops is no failure.
      await consume(ending).catch((error) => {
        if (!ending.aborted) throw error;
      });
    },
  });

  async function consume(ending: AbortSignal): Promise<void> {
    const { state } = await ensureEventStream(bus, stream);
    const durable = await ensureConsumer(bus, stream, consumer);
    noteGap(findGap(state, await durable.info(true), consumer));
    consuming = await durable.consume({
      max_messages: maxMessages,
      expires: 10_000,
      idle_heartbeat: 5000,
      abort_on_missing_resource: true,
    });
    // Who stopped while the consumer was being made had nothing to close. Closing ends with the loop, so not awaited.
    if (ending.aborted) void consuming.close();
    for await (const message of consuming) await take(message);
  }

  /** What is gone is said, never passed over in silence. */
  function noteGap(gap: StreamGap | undefined): void {
    if (!gap) return;
    const fields = { stream: stream.name, consumer: consumer.name, from: gap.from, to: gap.to };
    if (gap.isPartial) log.info(fields, 'the stream begins behind the last event of this consumer');
    else log.warn(fields, 'the stream dropped events that this consumer has not read');
  }

  return {
    start: reading.start,
    async stop() {
      const stopped = reading.stop();
      await consuming?.close();
      await stopped;
    },
  };
}
