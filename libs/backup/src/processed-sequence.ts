import { type Bus, eventStream, getConsumer, webhooksConsumer } from '@recordbus/bus';

/**
 * Returns the stream's sequence number up to which the webhooks service has created all deliveries; null when the bus
 * does not answer. Call it before the snapshot is taken, so that the snapshot has these deliveries.
 */
export async function findProcessedSequence(bus: Bus): Promise<number | null> {
  if (!bus.connected) return null;
  const consumer = await getConsumer(bus, eventStream, webhooksConsumer).catch(() => undefined);
  return consumer?.readUpTo ?? null;
}
