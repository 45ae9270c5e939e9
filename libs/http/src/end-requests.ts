import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ListeningServer } from './server.ts';
import type { Service } from './service.ts';

/** How many connections node:http lets wait (`backlog`). Each turn of the event loop accepts one. */
const longestQueue = 511;

/**
 * Stops accepting connections, lets the services drain connections that would stay open, and waits until the last
 * request is answered. Then it throws a drain's first error.
 */
export async function endRequests(
  server: Pick<ListeningServer, 'close'>,
  services: readonly Pick<Service, 'drain'>[],
): Promise<void> {
  // Closing resets the connections that wait in the system's queue.
  for (let turn = 0; turn < longestQueue; turn += 1) await nextTurn();
  const closed = server.close();
  const drained = await Promise.allSettled(services.map(async (service) => service.drain?.()));
  await closed;
  for (const result of drained) if (result.status === 'rejected') throw result.reason;
}
