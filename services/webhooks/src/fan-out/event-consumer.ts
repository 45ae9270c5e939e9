import { setTimeout as sleep } from 'node:timers/promises';
import type { ConsumerMessages, JsMsg } from '@nats-io/jetstream';
import { type Bus, type EventStream, ensureConsumer, ensureEventStream } from '@recordbus/bus';
import type { Logger } from '@recordbus/shared/logging';

/** Reads the event stream together with the other replicas: every event goes to one of them. */
export interface EventConsumer {
  start(): void;
  /** Takes no more messages; those not handled go back to the other replicas. */
  stop(): Promise<void>;
}

interface EventConsumerOptions {
  readonly bus: Bus;
  readonly stream: EventStream;
  readonly log: Logger;
  /** Handles a batch for good: when it resolves the messages are acknowledged, when it throws they are tried again. */
  readonly handle: (messages: readonly JsMsg[]) => Promise<void>;
}

/** The name of the consumer that the replicas share. */
export const durableName = 'webhooks';

const durableConsumer = ({ prefix }: EventStream) =>
  ({ name: durableName, subjects: [`${prefix}.>`], ackWaitMs: 30_000, from: 'beginning' }) as const;

const batchSize = 200;
const retryMs = 1000;

/** Makes the consumer of this process; it does nothing before `start`. */
export function createEventConsumer({ bus, stream, log, handle }: EventConsumerOptions): EventConsumer {
  const ending = new AbortController();
  const pause = () => sleep(retryMs, undefined, { signal: ending.signal }).catch(() => {});
  /** By sequence number: a message that comes again while it waits here is one message. */
  const waiting = new Map<number, JsMsg>();
  let consuming: ConsumerMessages | undefined;
  let following = Promise.resolve();
  let draining: Promise<void> | undefined;

  async function drain(): Promise<void> {
    while (waiting.size > 0 && !ending.signal.aborted) {
      const batch = [...waiting.values().take(batchSize)];
      try {
        await handle(batch);
      } catch (error) {
        log.warn({ err: error, messages: batch.length }, 'events were not handed out, trying on');
        await pause();
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

  async function consume(): Promise<void> {
    await ensureEventStream(bus, stream);
    const consumer = await ensureConsumer(bus, stream, durableConsumer(stream));
    consuming = await consumer.consume({
      max_messages: 500,
      expires: 10_000,
      idle_heartbeat: 5000,
      abort_on_missing_resource: true,
      callback: take,
    });
    const reason = await consuming.closed();
    if (reason) throw reason;
  }

  async function follow(): Promise<void> {
    while (!ending.signal.aborted) {
      try {
        if (bus.connected) await consume();
      } catch (error) {
        log.warn({ err: error, stream: stream.name }, 'the event stream is not read, trying on');
      }
      await pause();
    }
  }

  return {
    start() {
      following = follow();
    },
    async stop() {
      ending.abort();
      await consuming?.close();
      await following;
      await draining;
      for (const message of waiting.values()) message.nak();
    },
  };
}
