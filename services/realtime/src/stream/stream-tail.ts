import {
  type Bus,
  beginStreamLife,
  type EventMessage,
  type EventStream,
  ensureEventStream,
  findEventStream,
  followEvents,
  type StreamState,
} from '@recordbus/bus';
import { type BackgroundTask, every, heartbeat, skipped } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';

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
  readonly onMessage: (message: EventMessage) => void;
}

const retryMs = 500;
/** How long it reads without use, so a client that reconnects finds it reading. */
const unusedMs = 30_000;
const useCheckMs = 1000;
const lifeCheckMs = 2000;

/**
 * Reads the stream's every new message, for this process alone. It waits while the bus is down and
 * then continues where it stopped. Without clients it reads nothing, so writes cost nothing extra.
 */
export function createStreamTail(options: StreamTailOptions): StreamTail {
  const { bus, stream, log, isUsed, onSleep, onConnect, hasLost, onMessage } = options;
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
    let state = await ensureEventStream(bus, stream);
    if (hasLost(state)) state = await beginStreamLife(bus, stream, state.life);
    const { life } = state;
    const after = onConnect(state);
    const enough = new AbortController();
    const endChecks = heartbeat(useCheckMs, () => {
      if (isUsed()) wokenAtMs = performance.now();
      else if (!isAwake()) enough.abort();
    });
    // Another process may find that the stream has lost messages, while this one's connection lasts.
    const endLifeChecks = heartbeat(lifeCheckMs, async () => {
      const found = await findEventStream(bus, stream);
      if (found && found.life !== life) enough.abort();
    });
    try {
      await followEvents({ bus, stream, after, take: onMessage, ending: AbortSignal.any([ending, enough.signal]) });
    } finally {
      endChecks();
      endLifeChecks();
    }
  }

  return {
    start: reading.start,
    wake() {
      wokenAtMs = performance.now();
      reading.wake();
    },
    stop: reading.stop,
  };
}
