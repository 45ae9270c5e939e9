import type { Logger } from '@recordbus/process/logging';
import type { EventStream } from '../event-stream.ts';

/** Logs that events wait for the stream's readers: at once, and then every minute. */
interface FullnessLog {
  /** Logs that events wait for these readers. */
  full(holders: string): void;
  /** Logs that events no longer wait for readers. */
  over(): void;
}

const remindMs = 60_000;

/** Creates one relay's log. */
export function createFullnessLog(log: Logger, { name }: EventStream): FullnessLog {
  let remindAtMs: number | undefined;
  return {
    full(holders) {
      if (remindAtMs !== undefined && performance.now() < remindAtMs) return;
      remindAtMs = performance.now() + remindMs;
      log.warn({ stream: name, holders }, 'events wait in the outbox: the event stream is full of unread events');
    },
    over() {
      if (remindAtMs !== undefined) log.info({ stream: name }, 'the event stream has room again');
      remindAtMs = undefined;
    },
  };
}
