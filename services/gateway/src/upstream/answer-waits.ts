import type { IncomingMessage, ServerResponse } from 'node:http';
import { Slots, type Slotted } from './slots.ts';

/** A request that a service in this process has not answered yet. */
export interface Wait extends Slotted {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Whether the answer may be silent once it has begun. */
  readonly staysOpen: boolean;
  /** Called once: when the service was idle for too long, when the answer ended, or when its client disconnected. */
  readonly end: () => void;
  /** The connection's bytes at the last tick, and how many ticks passed without progress. */
  seenBytes: number;
  idleTicks: number;
}

/** How often waits are checked: this many times per timeout, and at least once in `longestTickMs`. */
const ticksPerWait = 4;
const longestTickMs = 1000;

/**
 * Ends waits for services that do not answer, as the HTTP client's timeouts do for services in other processes. One
 * timer checks all pending requests: a timer for each request would cost every request, and almost none times out.
 */
export class AnswerWaits {
  readonly #waits = new Slots<Wait>();
  readonly #tickMs: number;
  readonly #ticks: number;
  #timer: NodeJS.Timeout | undefined;

  /** `timeoutMs` is the longest wait for an answer's head and for each next part; a wait may last a tick longer. */
  constructor(timeoutMs: number) {
    this.#tickMs = Math.min(timeoutMs / ticksPerWait, longestTickMs);
    this.#ticks = Math.ceil(timeoutMs / this.#tickMs);
  }

  start(): void {
    this.#timer = setInterval(() => this.#check(), this.#tickMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  add(wait: Wait): void {
    this.#waits.add(wait);
  }

  /** Removes the wait for a service that is done; returns false when the wait has ended already. */
  remove(wait: Wait): boolean {
    return this.#waits.remove(wait);
  }

  #check(): void {
    for (const wait of this.#waits.all()) {
      const { response } = wait;
      if (wait.staysOpen && response.headersSent) {
        this.remove(wait);
        continue;
      }
      wait.idleTicks = isServiceIdle(wait) ? wait.idleTicks + 1 : 0;
      if (wait.idleTicks <= this.#ticks && !response.writableEnded && !response.destroyed) continue;
      this.remove(wait);
      wait.end();
    }
  }
}

/** Whether the service has to act and nothing was sent or received since the last tick. */
function isServiceIdle(wait: Wait): boolean {
  const { request, response } = wait;
  if (response.headersSent) return response.writableLength === 0 && !hasMoved(wait, request.socket.bytesWritten);
  if (request.complete) return true;
  // The service is at fault if it does not read, but not if the client sends slowly.
  return !hasMoved(wait, request.socket.bytesRead) && (request.readableLength > 0 || !isBeingRead(request));
}

function hasMoved(wait: Wait, bytes: number): boolean {
  const moved = bytes !== wait.seenBytes;
  wait.seenBytes = bytes;
  return moved;
}

const isBeingRead = (request: IncomingMessage): boolean =>
  request.listenerCount('data') > 0 || request.listenerCount('readable') > 0;
