import type { StreamInfo } from '@nats-io/jetstream';
import type { Bus } from './bus.ts';
import type { EventStream } from './event-stream.ts';

/** The member of the stream's metadata with the time at which its current life began. */
const lifeMember = 'recordbus.life';

/**
 * Names the life of a stream by the time at which it began, in milliseconds. Within a life no sequence number is used
 * twice. A new one begins when the stream is created, and when it has lost its last messages.
 */
export function lifeOf({ created, config }: Pick<StreamInfo, 'created' | 'config'>): number {
  return Math.max(Date.parse(created), Number(config.metadata?.[lifeMember] ?? 0) || 0);
}

/**
 * Begins a new life of a stream that has lost its last messages, before their numbers are used again. If another
 * process was faster, its life stays. Throws JetStream's refusals, and 503 without a connection.
 */
export async function beginStreamLife(bus: Bus, { name }: EventStream, ended: number): Promise<StreamInfo> {
  const manager = await bus.jetstreamManager();
  const info = await manager.streams.info(name);
  if (lifeOf(info) !== ended) return info;
  const life = String(Math.max(Date.now(), ended + 1));
  return manager.streams.update(name, { metadata: { ...info.config.metadata, [lifeMember]: life } });
}
