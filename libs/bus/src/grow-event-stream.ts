import { JetStreamApiError } from '@nats-io/jetstream';
import type { Logger } from '@recordbus/process/logging';
import { type Bus, nats } from './bus.ts';
import { clusterReplicas, type EventStream, findEventStream } from './event-stream.ts';

/**
 * Gives a stream in a cluster three replicas if it was created while fewer than three servers ran. Does nothing while
 * the cluster has no room for them. Throws 503 without a connection.
 */
export async function growEventStream(bus: Bus, stream: EventStream, log: Logger): Promise<undefined> {
  const found = await findEventStream(bus, stream);
  if (!found?.cluster || found.replicas >= clusterReplicas) return undefined;
  const { streams } = await bus[nats].jetstreamManager();
  try {
    await streams.update(stream.name, { num_replicas: clusterReplicas });
    log.info(
      { stream: stream.name, replicas: clusterReplicas },
      'the stream and its consumers get replicas on three servers',
    );
  } catch (error) {
    if (!(error instanceof JetStreamApiError)) throw error;
    log.debug({ err: error, stream: stream.name }, 'the cluster has no room for three stream replicas');
  }
  return undefined;
}
