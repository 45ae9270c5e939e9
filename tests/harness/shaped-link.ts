import type { Socket } from 'node:net';

/** How a network passes bytes on: each way with this delay, and at most so many in a second on each connection. */
export interface Link {
  readonly latencyMs?: number;
  readonly bytesPerSecond?: number;
}

/** What a network does with the bytes at the moment. */
interface Network {
  readonly link: () => Link;
  readonly mayPass: () => boolean;
}

/** So much is under way on one connection at most, as with the window of TCP. */
const windowBytes = 256 * 1024;

/**
 * Passes what one end of a connection sends to the other, in order. Returns a function that closes the other end, when all
 * that is under way has arrived.
 */
export function passOn(from: Socket, to: Socket, { link, mayPass }: Network): () => void {
  const waiting: { readonly chunk: Buffer; readonly atMs: number }[] = [];
  let [underWay, lastAtMs, hasEnded]: [number, number, boolean] = [0, 0, false];
  let timer: NodeJS.Timeout | undefined;

  function readOn(): void {
    if (mayPass() && underWay < windowBytes && !to.writableNeedDrain) from.resume();
  }

  function arrive(): void {
    timer = undefined;
    while (waiting[0] && waiting[0].atMs <= performance.now()) {
      const { chunk } = waiting.shift() ?? {};
      underWay -= chunk?.length ?? 0;
      if (chunk) to.write(chunk);
    }
    readOn();
    if (waiting[0]) timer = setTimeout(arrive, waiting[0].atMs - performance.now());
    else if (hasEnded) to.destroySoon();
  }

  from.on('data', (chunk: Buffer) => {
    const { latencyMs = 0, bytesPerSecond = Number.POSITIVE_INFINITY } = link();
    const sendMs = (chunk.length / bytesPerSecond) * 1000;
    if (waiting.length === 0 && latencyMs + sendMs === 0) {
      if (!to.write(chunk)) from.pause();
      return;
    }
    lastAtMs = Math.max(lastAtMs, performance.now() + latencyMs) + sendMs;
    waiting.push({ chunk, atMs: lastAtMs });
    underWay += chunk.length;
    if (underWay >= windowBytes) from.pause();
    timer ??= setTimeout(arrive, lastAtMs - performance.now());
  });
  to.on('drain', readOn);
  to.on('close', () => clearTimeout(timer));
  return () => {
    hasEnded = true;
    if (waiting.length === 0) to.destroySoon();
  };
}
