import { type Bus, nats } from './bus.ts';
import type { EventStream } from './event-stream.ts';
import { lifeMember, lifeOf, type StreamState, streamStateOf } from './stream-state.ts';

/**
 * Begins a new life of a stream that has lost its last messages, before their numbers are used again. If another
 * process was faster, its life stays. Throws JetStream's refusals, and 503 without a connection.
 */
export async function beginStreamLife(bus: Bus, { name }: EventStream, ended: number): Promise<StreamState> {
  const { streams } = await bus[nats].jetstreamManager();
  const info = await streams.info(name);
  if (lifeOf(info) !== ended) return streamStateOf(info);
  const life = String(Math.max(Date.now(), ended + 1));
  return streamStateOf(await streams.update(name, { metadata: { ...info.config.metadata, [lifeMember]: life } }));
}
