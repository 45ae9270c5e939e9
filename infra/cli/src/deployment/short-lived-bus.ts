import { setTimeout } from 'node:timers/promises';
import { type Bus, connectBus } from '@recordbus/bus';
import type { CommandParts } from '../run-command.ts';

/** As much of the bus as changes made by a command need. */
export type ShortLivedBus = Pick<Bus, 'notify' | 'onNotice'>;

/** Replicas that hear nothing look for themselves soon, so a bus that is away is not waited for long. */
const patienceMs = 2000;

const silentBus: ShortLivedBus = { notify: () => {}, onNotice: () => () => {} };

/** Connects for as long as the command runs, so that replicas hear at once of what it changes. */
export const openShortLivedBus = async (parts: CommandParts, natsUrl: string | undefined): Promise<ShortLivedBus> =>
  natsUrl === undefined ? silentBus : connectForCommand(parts, natsUrl);

/** A bus that has its connection, unless that does not come about soon. */
export async function connectForCommand({ name, log, lifecycle }: CommandParts, natsUrl: string): Promise<Bus> {
  const bus = connectBus({ urls: natsUrl, name: `cli ${name}`, log });
  lifecycle.onStop('bus', () => bus.close());
  const { promise: connected, resolve } = Promise.withResolvers<void>();
  bus.onConnect(resolve);
  await Promise.race([connected, setTimeout(patienceMs, undefined, { ref: false })]);
  return bus;
}
