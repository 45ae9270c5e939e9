import type { IncomingMessage, ServerResponse } from 'node:http';

/** A request that a service in this process has not answered yet. */
export interface Wait {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Called once: when the service was idle for too long, when the answer ended, or when its client disconnected. */
  readonly end: () => void;
  /** The connection's bytes at the last tick, and the number of ticks without progress. */
  seenBytes: number;
  idleTicks: number;
  /** Its index among all waits. */
  index: number;
}

/** How often waits are checked: this many times per timeout, and at least at this interval. */
const ticksPerWait = 4;
const longestTickMs = 1000;

/**
 * Ends waits for services that do not answer, as timeouts of the HTTP client do for services in other processes. One
 * timer checks all requests under way: a timer for each request would cost every request, and almost none times out.
 */
export class AnswerWaits {
  /**
   * The first `#count` slots are taken, the others empty. Not a Set: a Set keeps replacing its table, and the old
   * tables would keep requests alive past the young generation of the garbage collector.
   */
  readonly #waits: (Wait | undefined)[] = [];
  #count = 0;
  readonly #tickMs: number;
  readonly #ticks: number;
  #timer: NodeJS.Timeout | undefined;

  /**
   * `timeoutMs` is the longest wait for the head of an answer and for each next part; a wait may last a tick longer.
   */
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
    wait.index = this.#count;
    this.#waits[this.#count] = wait;
    this.#count += 1;
  }

  /** Removes the wait of a service that is done; returns false when the wait has ended already. */
  remove(wait: Wait): boolean {
    if (this.#waits[wait.index] !== wait) return false;
    this.#count -= 1;
    const last = this.#waits[this.#count];
    this.#waits[this.#count] = undefined;
    if (last && last !== wait) {
      this.#waits[wait.index] = last;
      last.index = wait.index;
    }
    return true;
  }

  #check(): void {
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

/** Whether the service has to act and nothing was sent or received since the last tick. */
function isServiceIdle(wait: Wait): boolean {
  const { request, response } = wait;
  if (response.headersSent) return response.writableLength === 0 && !hasMoved(wait, request.socket.bytesWritten);
  if (request.complete) return true;
  // A client that sends slowly is not the service's delay; a service that does not read is.
  return !hasMoved(wait, request.socket.bytesRead) && (request.readableLength > 0 || !isBeingRead(request));
}

function hasMoved(wait: Wait, bytes: number): boolean {
  const moved = bytes !== wait.seenBytes;
  wait.seenBytes = bytes;
  return moved;
}

const isBeingRead = (request: IncomingMessage): boolean =>
  request.listenerCount('data') > 0 || request.listenerCount('readable') > 0;
