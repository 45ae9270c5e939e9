import { setTimeout as sleep } from 'node:timers/promises';
import type { JsMsg } from '@nats-io/jetstream';
import { type Bus, createEventReader, type EventReader, type EventStream } from '@recordbus/bus';
import type { Logger } from '@recordbus/shared/logging';

interface EventConsumerOptions {
  readonly bus: Bus;
  readonly stream: EventStream;
  readonly log: Logger;
  /** Handles a batch for good: when it resolves the messages are acknowledged, when it throws they are tried again. */
  readonly handle: (messages: readonly JsMsg[]) => Promise<void>;
}

/** The name of the consumer that the replicas share. */
export const durableName = 'webhooks';

/** Messages that are handled at once, and that may wait to be. */
const batchSize = 200;
const maxMessages = 500;
const retryMs = 1000;

/**
 * Makes the consumer of this process: batches are handled one after the other. When it stops, messages that were not
 * handled go back to the other replicas.
 */
export function createEventConsumer({ bus, stream, log, handle }: EventConsumerOptions): EventReader {
  const ending = new AbortController();
  /** By sequence number: a message that comes again while it waits here is one message. */
  const waiting = new Map<number, JsMsg>();
  let draining: Promise<void> | undefined;

  async function drain(): Promise<void> {
    while (waiting.size > 0 && !ending.signal.aborted) {
      const batch = [...waiting.values().take(batchSize)];
      try {
        await handle(batch);
      } catch (error) {
        log.warn({ err: error, messages: batch.length }, 'events were not handed out, trying on');
        await sleep(retryMs, undefined, { signal: ending.signal }).catch(() => {});
        continue;
      }
      for (const message of batch) {
        waiting.delete(message.seq);
        message.ack();
      }
    }
  }

  function take(message: JsMsg): void {
    waiting.set(message.seq, message);
    draining ??= drain().finally(() => {
      draining = undefined;
    });
  }

  const reader = createEventReader({
    bus,
    stream,
    consumer: { name: durableName, subject: `${stream.prefix}.>`, ackWaitMs: 30_000, from: 'beginning' },
    maxMessages,
    take,
    log,
  });

  return {
    start: reader.start,
    async stop() {
      ending.abort();
      await reader.stop();
      await draining;
      for (const message of waiting.values()) message.nak();
    },
  };
}
