import {
  type Bus,
  type ConsumedMessage,
  createSharedConsumer,
  type EventStream,
  type SharedConsumer,
  webhooksConsumer,
} from '@recordbus/bus';
import { skipped, whenWoken } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';

interface EventConsumerOptions {
  readonly bus: Bus;
  readonly stream: EventStream;
  readonly log: Logger;
  /** Handles a batch. The messages are acknowledged when it resolves, and handled again when it throws. */
  readonly handle: (messages: readonly ConsumedMessage[]) => Promise<void>;
  /** Called when a batch's messages are acknowledged. */
  readonly onAcknowledged: () => void;
}

/** How many messages a batch may have, and how many may wait in this process. */
const batchSize = 200;
const maxMessages = 500;
const retryMs = 1000;

/**
 * Creates this process's consumer. It handles one batch at a time. When it stops, it returns the messages that it has
 * not handled to the other replicas.
 */
export function createEventConsumer({
  bus,
  stream,
  log,
  handle,
  onAcknowledged,
}: EventConsumerOptions): SharedConsumer {
  /** By sequence number, so that a message redelivered while it waits here is handled once. */
  const waiting = new Map<number, ConsumedMessage>();
  const handling = whenWoken({
    name: 'create event deliveries',
    log,
    fields: () => ({ messages: waiting.size }),
    retryMs,
    run: handleWaiting,
  });

  async function handleWaiting(ending: AbortSignal): Promise<typeof skipped | undefined> {
    if (waiting.size === 0) return skipped;
    while (waiting.size > 0 && !ending.aborted) {
      const batch = [...waiting.values().take(batchSize)];
      await handle(batch);
      for (const message of batch) {
        waiting.delete(message.seq);
        // One by one: replicas share the consumer, and "all up to this one" would include the others' messages. A
        // batch's acknowledgements leave in one write.
        message.ack();
      }
      onAcknowledged();
    }
    return undefined;
  }

  function take(message: ConsumedMessage): void {
    waiting.set(message.seq, message);
    handling.wake();
  }

  const consumer = createSharedConsumer({
    bus,
    stream,
    consumer: { name: webhooksConsumer, subject: `${stream.prefix}.>`, ackWaitMs: 30_000, from: 'beginning' },
    maxMessages,
    take,
    log,
  });

  return {
    start: consumer.start,
    async stop() {
      const handled = handling.stop();
      await consumer.stop();
      await handled;
      for (const message of waiting.values()) message.retry();
    },
  };
}
