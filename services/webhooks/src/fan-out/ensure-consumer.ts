import { AckPolicy, type Consumer, DeliverPolicy, JetStreamApiError } from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import type { Bus, EventStream } from '@recordbus/bus';

/** The name of the consumer that the replicas share. */
export const durableName = 'webhooks';

const existsDifferently = 10148;

/**
 * Creates the consumer that the replicas share, or brings the one that is there up to date; where it stands in the
 * stream stays. Any number of replicas may do this at once. Throws what JetStream refuses, and 503 without a connection.
 */
export async function ensureConsumer(bus: Bus, stream: EventStream): Promise<Consumer> {
  const { consumers } = await bus.jetstreamManager();
  const changeable = {
    ack_wait: nanos(30_000),
    max_ack_pending: 1000,
    max_deliver: -1,
    filter_subject: `${stream.prefix}.>`,
  };
  const fixed = { durable_name: durableName, ack_policy: AckPolicy.Explicit, deliver_policy: DeliverPolicy.All };
  try {
    await consumers.add(stream.name, { ...fixed, ...changeable });
  } catch (error) {
    if (!(error instanceof JetStreamApiError) || error.code !== existsDifferently) throw error;
    await consumers.update(stream.name, durableName, changeable);
  }
  return bus.jetstream().consumers.get(stream.name, durableName);
}
