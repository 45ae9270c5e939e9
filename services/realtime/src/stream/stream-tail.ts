import { type ConsumerMessages, DeliverPolicy, type JsMsg, type StreamInfo } from '@nats-io/jetstream';
import {
  type Bus,
  beginStreamLife,
  type EventStream,
  endWhenSilent,
  ensureEventStream,
  findEventStream,
  lifeOf,
} from '@recordbus/bus';
import { type BackgroundTask, every, heartbeat, skipped } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';

/** The stream's state when the reader connects to it. */
export interface StreamState {
  readonly epoch: string;
  readonly firstSeq: number;
  readonly lastSeq: number;
}

export const stateOf = (info: StreamInfo): StreamState => ({
  epoch: String(lifeOf(info)),
  firstSeq: info.state.first_seq,
  lastSeq: info.state.last_seq,
});

/** Reads new messages. */
export interface StreamTail extends Pick<BackgroundTask, 'start' | 'stop'> {
  /** Makes it read for at least a while, even if nothing uses it yet. */
  wake(): void;
}

interface StreamTailOptions {
  readonly bus: Bus;
  readonly stream: EventStream;
  readonly log: Logger;
  /** Whether there is any connection to read for. */
  readonly isUsed: () => boolean;
  /** Called when it stops reading because it was not used for a while. */
  readonly onSleep: () => void;
  /** Called with the state whenever the reader connects; returns the sequence number after which it reads. */
  readonly onConnect: (state: StreamState) => number;
  /** Whether the stream no longer has messages that were read, so that their numbers will be used again. */
  readonly hasLost: (state: StreamState) => boolean;
  readonly onMessage: (message: JsMsg) => void;
}

const retryMs = 500;
/** How long it reads without use, so a client that reconnects finds it reading. */
const unusedMs = 30_000;
const useCheckMs = 1000;
const lifeCheckMs = 2000;

/**
 * Reads the stream's every new message with its own consumer, which ends with it. It waits while the bus is down and
 * then continues where it stopped. Without clients it reads nothing, so writes cost nothing extra.
 */
export function createStreamTail(options: StreamTailOptions): StreamTail {
  const { bus, stream, log, isUsed, onSleep, onConnect, hasLost, onMessage } = options;
  let consuming: ConsumerMessages | undefined;
  let wokenAtMs = Number.NEGATIVE_INFINITY;
  const isAwake = () => isUsed() || performance.now() - wokenAtMs < unusedMs;
  const reading = every({
    name: 'follow the event stream',
    log,
    fields: () => ({ stream: stream.name }),
    intervalMs: retryMs,
    async run(ending) {
      if (!bus.connected || !isAwake()) return skipped;
      // An error caused by the stop is not a failure.
      await follow(ending).catch((error) => {
        if (!ending.aborted) throw error;
      });
      if (!isAwake()) onSleep();
      return undefined;
    },
  });

  async function follow(ending: AbortSignal): Promise<void> {
    let info = await ensureEventStream(bus, stream);
    if (hasLost(stateOf(info))) info = await beginStreamLife(bus, stream, lifeOf(info));
    const life = lifeOf(info);
    const after = onConnect(stateOf(info));
    const consumer = await bus.jetstream().consumers.get(stream.name, {
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: after + 1,
      inactive_threshold: unusedMs,
    });
    consuming = await consumer.consume({
      max_messages: 1000,
      expires: 10_000,
      idle_heartbeat: 2000,
      abort_on_missing_resource: true,
    });
    // A stop during the steps above had nothing to close. Not awaited, since closing ends with the loop below.
    if (ending.aborted) void consuming.close();
    const endWatch = endWhenSilent(bus, consuming);
    const endChecks = heartbeat(useCheckMs, () => {
      if (isUsed()) wokenAtMs = performance.now();
      else if (!isAwake()) void consuming?.close();
    });
    // Another process may find that the stream has lost messages, while this one's connection lasts.
    const endLifeChecks = heartbeat(lifeCheckMs, async () => {
      const found = await findEventStream(await bus.jetstreamManager(), stream);
      if (found && lifeOf(found) !== life) void consuming?.close();
    });
    try {
      for await (const message of consuming) onMessage(message);
    } finally {
      endChecks();
      endLifeChecks();
      endWatch();
      // Not awaited: without a connection, the server ends it after the time above.
      consumer.delete().catch(() => {});
    }
  }

  return {
    start: reading.start,
    wake() {
      wokenAtMs = performance.now();
      reading.wake();
    },
    async stop() {
      const stopped = reading.stop();
      await consuming?.close();
      await stopped;
    },
  };
}
