import { AckPolicy, DeliverPolicy } from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import { type Bus, nats } from '../bus.ts';
import type { EventStream } from '../event-stream.ts';
import { type StreamReading, unreadMessages } from './stream-reading.ts';

/**
 * The minimum that the server counts for a message in addition to subject, headers and body (filestore.go,
 * fileStoreMsgSize).
 */
const recordBytes = 30;
const batchMessages = 5000;
const maxBatches = 10;
const batchMs = 2000;

/**
 * Returns a lower bound for how many bytes the messages before the first unread one have. It is computed from counts
 * alone: each message takes some bytes, and an unread one takes at most the largest message size.
 */
export function readBytesAtLeast(reading: StreamReading, maxMessageBytes: number): number {
  const { bytes, firstSequence, unreadFrom } = reading;
  const unread = unreadMessages(reading);
  if (unread === 0) return bytes;
  return Math.max((unreadFrom - firstSequence) * recordBytes, bytes - unread * (maxMessageBytes + 1024), 0);
}

/**
 * Measures the oldest messages until they have `wantedBytes` or the first unread one is reached, for a reader so far
 * behind that the counts alone say too little. Returns a lower bound for their bytes. The server sends only headers.
 */
export async function measureOldest(
  bus: Bus,
  { name }: EventStream,
  { firstSequence, unreadFrom }: StreamReading,
  wantedBytes: number,
): Promise<number> {
  const { consumers } = await bus[nats].jetstreamManager();
  const { name: consumer } = await consumers.add(name, {
    ack_policy: AckPolicy.None,
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: firstSequence,
    headers_only: true,
    mem_storage: true,
    num_replicas: 1,
    inactive_threshold: nanos(10_000),
  });
  try {
    const reader = await bus[nats].jetstream().consumers.get(name, consumer);
    let bytes = 0;
    let next = firstSequence;
    for (let batch = 0; batch < maxBatches && bytes < wantedBytes && next < unreadFrom; batch += 1) {
      const count = Math.min(unreadFrom - next, batchMessages);
      for await (const message of await reader.fetch({ max_messages: count, expires: batchMs })) {
        next = message.seq + 1;
        if (next > unreadFrom) break;
        bytes += recordBytes + Number(message.headers?.get('Nats-Msg-Size') || 0);
      }
    }
    return bytes;
  } finally {
    await consumers.delete(name, consumer).catch(() => {});
  }
}
