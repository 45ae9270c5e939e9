import type { Socket } from 'node:net';

/** A network's delay in each direction, and how many bytes per second each connection carries. */
export interface Link {
  readonly latencyMs?: number;
  readonly bytesPerSecond?: number;
}

/** A network's current state. */
interface Network {
  readonly link: () => Link;
  readonly mayPass: () => boolean;
}

/** How many bytes may be in transit on one connection, like TCP's window. */
const windowBytes = 256 * 1024;

/**
 * Passes bytes from one end of a connection to the other, in order. Returns a function that closes the other end once
 * all bytes in transit have arrived.
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
