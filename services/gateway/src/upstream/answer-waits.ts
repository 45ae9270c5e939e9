import type { IncomingMessage, ServerResponse } from 'node:http';

/** A request that a service in this process has, until it has answered. */
export interface Wait {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Called once if nothing has come from the service for too long, or when the answer has ended, or its client has gone. */
  readonly end: () => void;
  /** What was seen at the last tick: bytes of the connection, and for how many ticks nothing has come. */
  seenBytes: number;
  idleTicks: number;
  /** Where it stands among all waits. */
  place: number;
}

/** How often waits are looked at: so many times in the longest, and at least every so many milliseconds. */
const ticksPerWait = 4;
const longestTickMs = 1000;

/**
 * Ends waits for services that do not answer, as timeouts of the HTTP client do for services in other processes. One
 * timer looks at all requests under way, because one for each costs every request and ends next to none.
 */
export class AnswerWaits {
  /**
   * The first so many slots are taken, the others empty. No Set: the tables that it outgrows all the time would keep
   * every request from being collected young.
   */
  readonly #waits: (Wait | undefined)[] = [];
  #count = 0;
  readonly #tickMs: number;
  readonly #ticks: number;
  #timer: NodeJS.Timeout | undefined;

  /** `timeoutMs` is the longest wait for the head of an answer and for each next part; it may be a tick longer. */
  constructor(timeoutMs: number) {
    this.#tickMs = Math.min(timeoutMs / ticksPerWait, longestTickMs);
    this.#ticks = Math.ceil(timeoutMs / this.#tickMs);
  }

  start(): void {
    this.#timer = setInterval(() => this.#look(), this.#tickMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  add(wait: Wait): void {
    wait.place = this.#count;
    this.#waits[this.#count] = wait;
    this.#count += 1;
  }

  /** The service is done; false when the wait had been ended before. */
  remove(wait: Wait): boolean {
    if (this.#waits[wait.place] !== wait) return false;
    this.#count -= 1;
    const last = this.#waits[this.#count];
    this.#waits[this.#count] = undefined;
    if (last && last !== wait) {
      this.#waits[wait.place] = last;
      last.place = wait.place;
    }
    return true;
  }

  #look(): void {
    for (const wait of this.#waits.slice(0, this.#count)) {
      if (!wait) continue;
      const { response } = wait;
      wait.idleTicks = isServiceIdle(wait) ? wait.idleTicks + 1 : 0;
      if (wait.idleTicks <= this.#ticks && !response.writableEnded && !response.destroyed) continue;
      this.remove(wait);
      wait.end();
    }
  }
}

/** Is it the service's turn, and has nothing come or gone since the last tick? */
function isServiceIdle(wait: Wait): boolean {
  const { request, response } = wait;
  if (response.headersSent) return response.writableLength === 0 && !hasMoved(wait, request.socket.bytesWritten);
  if (request.complete) return true;
  // What the client has not sent yet is not the service's delay; what the service does not take is.
  return !hasMoved(wait, request.socket.bytesRead) && (request.readableLength > 0 || !isBeingRead(request));
}

function hasMoved(wait: Wait, bytes: number): boolean {
  const moved = bytes !== wait.seenBytes;
  wait.seenBytes = bytes;
  return moved;
}

const isBeingRead = (request: IncomingMessage): boolean =>
  request.listenerCount('data') > 0 || request.listenerCount('readable') > 0;
