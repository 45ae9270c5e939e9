import { AckPolicy, type Consumer, DeliverPolicy, JetStreamApiError } from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import type { Bus } from './bus.ts';
import type { EventStream } from './event-stream.ts';

/** A durable consumer of the event stream, shared by replicas. */
export interface DurableConsumer {
  readonly name: string;
  /**
   * What it reads, for as long as it is there. Whoever reads something else takes another consumer: one that is made to
   * read more goes on from where it stands, so what it had passed over (seen on nats-server 2.14) never comes.
   */
  readonly subject: string;
  /** A message that is not acknowledged in time goes to another replica. */
  readonly ackWaitMs: number;
  /** Where a new one begins: with everything that the stream holds, or with what it took from this time on. */
  readonly from: 'beginning' | Date;
  /** The server removes it when nobody has read for so long; it stays when not given. */
  readonly unreadForMs?: number;
}

const maxAckPending = 1000;
const existsDifferently = 10148;

/**
 * Creates the consumer that the replicas share, or brings the one that is there up to date; where it stands in the
 * stream stays. Any number of replicas may do this at once. Throws what JetStream refuses, and 503 without a connection.
 */
export async function ensureConsumer(
  bus: Bus,
  stream: EventStream,
  { name, subject, ackWaitMs, from, unreadForMs }: DurableConsumer,
): Promise<Consumer> {
  const { consumers } = await bus.jetstreamManager();
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
  return bus.jetstream().consumers.get(stream.name, name);
}
