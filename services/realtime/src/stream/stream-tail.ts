import { type ConsumerMessages, DeliverPolicy, type JsMsg } from '@nats-io/jetstream';
import { type Bus, type EventStream, ensureEventStream } from '@recordbus/bus';
import { type BackgroundTask, every, skipped } from '@recordbus/shared/background';
import type { Logger } from '@recordbus/shared/logging';
import { epochOf } from './cursor.ts';

/** The state of the stream when the reader connects to it. */
export interface StreamState {
  readonly epoch: string;
  readonly firstSeq: number;
  readonly lastSeq: number;
}

interface StreamTailOptions {
  readonly bus: Bus;
  readonly stream: EventStream;
  readonly log: Logger;
  /** Called with the state whenever the reader connects; returns the sequence number after which it reads. */
  readonly onConnect: (state: StreamState) => number;
  readonly onMessage: (message: JsMsg) => void;
}

const retryMs = 500;

/**
 * Reads every new message of the stream with a consumer of its own, which ends with it. It waits while the bus is down
 * and then goes on where it stopped.
 */
export function createStreamTail({ bus, stream, log, onConnect, onMessage }: StreamTailOptions): BackgroundTask {
  let consuming: ConsumerMessages | undefined;
  const reading = every({
    name: 'follow the stream of events',
    log,
    fields: () => ({ stream: stream.name }),
    intervalMs: retryMs,
    async run(ending) {
      if (!bus.connected) return skipped;
      // An error caused by the stop is not a failure.
      await follow(ending).catch((error) => {
        if (!ending.aborted) throw error;
      });
    },
  });

  async function follow(ending: AbortSignal): Promise<void> {
    const { created, state } = await ensureEventStream(bus, stream);
    const after = onConnect({ epoch: epochOf(created), firstSeq: state.first_seq, lastSeq: state.last_seq });
    const consumer = await bus.jetstream().consumers.get(stream.name, {
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: after + 1,
    });
    consuming = await consumer.consume({
      max_messages: 1000,
      expires: 10_000,
      idle_heartbeat: 2000,
      abort_on_missing_resource: true,
    });
    // A stop during the steps above found nothing to close. Not awaited: closing ends with the loop below.
    if (ending.aborted) void consuming.close();
    for await (const message of consuming) onMessage(message);
  }

  return {
    ...reading,
    get health() {
      return reading.health;
    },
    async stop() {
      const stopped = reading.stop();
      await consuming?.close();
      await stopped;
    },
  };
}
