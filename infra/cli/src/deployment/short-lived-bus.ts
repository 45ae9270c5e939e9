import { setTimeout } from 'node:timers/promises';
import { type Bus, connectBus } from '@recordbus/bus';
import type { CommandParts } from '../run-command.ts';

/** The bus functions that changes by a command need. */
export type ShortLivedBus = Pick<Bus, 'notify' | 'onNotice'>;

/** How long to wait for the bus, in milliseconds. Short, because replicas also poll for changes. */
const connectTimeoutMs = 2000;

const disconnectedBus: ShortLivedBus = { notify: () => {}, onNotice: () => () => {} };

/** Connects to the bus while the command runs, so that replicas learn of its changes at once. */
export const openShortLivedBus = async (parts: CommandParts, natsUrl: string | undefined): Promise<ShortLivedBus> =>
  natsUrl === undefined ? disconnectedBus : connectForCommand(parts, natsUrl);

/** Connects to the bus and waits briefly for the connection. The returned bus may not be connected. */
export async function connectForCommand({ name, log, lifecycle }: CommandParts, natsUrl: string): Promise<Bus> {
  const bus = connectBus({ urls: natsUrl, name: `cli ${name}`, log });
  lifecycle.onStop('bus', () => bus.close());
  const { promise: connected, resolve } = Promise.withResolvers<void>();
  bus.onConnect(resolve);
  await Promise.race([connected, setTimeout(connectTimeoutMs, undefined, { ref: false })]);
  return bus;
}
