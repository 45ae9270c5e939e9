import { AckPolicy, type Consumer, DeliverPolicy, JetStreamApiError } from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import { type Bus, nats } from './bus.ts';
import type { EventStream } from './event-stream.ts';

/** A durable consumer of the event stream, shared by replicas. */
export interface DurableConsumer {
  readonly name: string;
  /**
   * The subject that it reads. Use a new consumer to read another subject: a consumer whose subject is widened
   * continues from its position, so messages that it skipped before never arrive (seen on nats-server 2.14).
   */
  readonly subject: string;
  /** A message that is not acknowledged in this time is delivered to another replica. */
  readonly ackWaitMs: number;
  /** Where a new consumer begins: with everything in the stream, or with messages from this time on. */
  readonly from: 'beginning' | Date;
  /** The server removes the consumer after this time without readers; without a value it stays. */
  readonly unreadForMs?: number;
}

const maxAckPending = 1000;
const existsDifferently = 10148;

/**
 * Creates the consumer that the replicas share, or updates the existing one, which keeps its position. Replicas may
 * call it concurrently. Throws JetStream's refusals, and 503 without a connection.
 */
export async function ensureConsumer(
  bus: Bus,
  stream: EventStream,
  { name, subject, ackWaitMs, from, unreadForMs }: DurableConsumer,
): Promise<Consumer> {
  const { consumers } = await bus[nats].jetstreamManager();
  const changeable = {
    ack_wait: nanos(ackWaitMs),
    max_ack_pending: maxAckPending,
    max_deliver: -1,
    filter_subject: subject,
    ...(unreadForMs !== undefined && { inactive_threshold: nanos(unreadForMs) }),
  };
  const fixed = {
    durable_name: name,
    ack_policy: AckPolicy.Explicit,
    ...(from === 'beginning'
      ? { deliver_policy: DeliverPolicy.All }
      : { deliver_policy: DeliverPolicy.StartTime, opt_start_time: from.toISOString() }),
  };
  try {
    await consumers.add(stream.name, { ...fixed, ...changeable });
  } catch (error) {
    if (!(error instanceof JetStreamApiError) || error.code !== existsDifferently) throw error;
    await consumers.update(stream.name, name, changeable);
  }
  return bus[nats].jetstream().consumers.get(stream.name, name);
}
