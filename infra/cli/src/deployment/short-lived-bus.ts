import { setTimeout } from 'node:timers/promises';
import { type Bus, connectBus } from '@recordbus/bus';
import type { CommandParts } from '../run-command.ts';

/** As much of the bus as changes made by a command need. */
export type ShortLivedBus = Pick<Bus, 'notify' | 'onNotice'>;

/** Replicas that hear nothing look for themselves soon, so a bus that is away is not waited for long. */
const patienceMs = 2000;

const silentBus: ShortLivedBus = { notify: () => {}, onNotice: () => () => {} };

/** Connects for as long as the command runs, so that replicas hear at once of what it changes. */
export async function openShortLivedBus(
  { log, lifecycle }: CommandParts,
  natsUrl: string | undefined,
): Promise<ShortLivedBus> {
  if (natsUrl === undefined) return silentBus;
  const bus = connectBus({ urls: natsUrl, name: 'cli', log });
  lifecycle.onStop('bus', () => bus.close());
  const { promise: connected, resolve } = Promise.withResolvers<void>();
  bus.onConnect(resolve);
  await Promise.race([connected, setTimeout(patienceMs, undefined, { ref: false })]);
  return bus;
}
