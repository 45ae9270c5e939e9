import { eventStream, webhooksConsumer } from '@recordbus/bus';
import { connectForCommand } from '../deployment/short-lived-bus.ts';
import type { CommandParts } from '../run-command.ts';

/**
 * Returns the sequence number of the stream up to which the webhooks service has created all deliveries; null when the bus
 * does not answer. Call it before the snapshot is taken, so that the snapshot has these deliveries.
 */
export async function findProcessedSequence(parts: CommandParts, natsUrl: string | undefined): Promise<number | null> {
  if (natsUrl === undefined) return null;
  const bus = await connectForCommand(parts, natsUrl);
  if (!bus.connected) return null;
  const { consumers } = await bus.jetstreamManager();
  const consumer = await consumers.info(eventStream.name, webhooksConsumer).catch(() => undefined);
  return consumer?.ack_floor.stream_seq ?? null;
}
