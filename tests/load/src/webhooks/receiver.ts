import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/** A webhook receiver that records when each record's event first arrived, on the clock `performance.now()`. */
export interface Receiver {
  readonly url: string;
  readonly arrivedAtMs: ReadonlyMap<string, number>;
  /** How many deliveries came again. */
  readonly repeatedCount: number;
  clear(): void;
  close(): Promise<void>;
}

interface Event {
  readonly data: { readonly record: { readonly id: string } };
}

/** Starts the receiver on loopback. */
export async function startReceiver(): Promise<Receiver> {
  const arrivedAtMs = new Map<string, number>();
  let repeatedCount = 0;
  const server = createServer(async (request, response) => {
    const atMs = performance.now();
    const { data } = (await json(request)) as Event;
    response.writeHead(204).end();
    if (arrivedAtMs.has(data.record.id)) repeatedCount += 1;
    else arrivedAtMs.set(data.record.id, atMs);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    arrivedAtMs,
    get repeatedCount() {
      return repeatedCount;
    },
    clear() {
      arrivedAtMs.clear();
      repeatedCount = 0;
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
