import { headers } from '@nats-io/transport-node';
import { type Bus, nats } from './bus.ts';
import type { EventStream } from './event-stream.ts';

interface MessageOptions {
  /** The server drops a second message with the same id. */
  readonly id?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Publishes any message to a stream, without the outbox. */
export async function publishMessage(
  bus: Bus,
  subject: string,
  body: Uint8Array | string,
  { id, headers: given = {} }: MessageOptions = {},
): Promise<void> {
  const set = headers();
  for (const [name, value] of Object.entries(given)) set.set(name, value);
  await bus[nats].jetstream().publish(subject, body, { headers: set, ...(id !== undefined && { msgID: id }) });
}

/** The client that manages streams and consumers, for tests that look at settings or change them as others would. */
export const managerOf = (bus: Bus) => bus[nats].jetstreamManager();

/** Removes a test's stream. Throws when there is none. */
export async function removeStream(bus: Bus, { name }: EventStream): Promise<void> {
  const { streams } = await managerOf(bus);
  await streams.delete(name);
}
