import { eventStream } from '@recordbus/bus';
import { connectForCommand } from '../deployment/short-lived-bus.ts';
import type { CommandParts } from '../run-command.ts';

/**
 * The stream's number up to which the webhooks service has made all deliveries; null when the bus does not say. To be
 * asked before the snapshot is taken: then the deliveries are in it.
 */
export async function findHandedOut(parts: CommandParts, natsUrl: string | undefined): Promise<number | null> {
  if (natsUrl === undefined) return null;
  const bus = await connectForCommand(parts, natsUrl);
  if (!bus.connected) return null;
  const { consumers } = await bus.jetstreamManager();
  const consumer = await consumers.info(eventStream.name, 'webhooks').catch(() => undefined);
  return consumer?.ack_floor.stream_seq ?? null;
}
