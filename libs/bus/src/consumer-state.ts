import type { ConsumerInfo } from '@nats-io/jetstream';
import { type Bus, nats } from './bus.ts';
import type { EventStream } from './event-stream.ts';

/** A consumer's state at one moment. */
export interface ConsumerState {
  readonly name: string;
  /** How many messages it has not delivered yet. */
  readonly waiting: number;
  /** How many messages it has delivered that are not acknowledged. */
  readonly inProgress: number;
  /** It has finished every message up to this sequence number. */
  readonly readUpTo: number;
  /** How many cluster servers have it; undefined on a single server, and if the number differs from the stream's. */
  readonly copies: number | undefined;
}

/** Returns a consumer's state. Throws JetStream's refusals, and 503 without a connection. */
export async function getConsumer(bus: Bus, stream: EventStream, name: string): Promise<ConsumerState> {
  const { consumers } = await bus[nats].jetstreamManager();
  return consumerStateOf(await consumers.info(stream.name, name));
}

/** Returns the states of a stream's consumers. Throws JetStream's refusals, and 503 without a connection. */
export async function listConsumers(bus: Bus, stream: EventStream): Promise<ConsumerState[]> {
  const { consumers } = await bus[nats].jetstreamManager();
  const found: ConsumerState[] = [];
  for await (const info of consumers.list(stream.name)) found.push(consumerStateOf(info));
  return found;
}

/** Reads the server's answer about a consumer. */
const consumerStateOf = ({
  name,
  num_pending,
  num_ack_pending,
  ack_floor,
  config,
  cluster,
}: ConsumerInfo): ConsumerState => ({
  name,
  waiting: num_pending,
  inProgress: num_ack_pending,
  readUpTo: ack_floor.stream_seq,
  // Zero means as many as the stream.
  copies:
    cluster?.name === undefined || config.num_replicas !== 0
      ? undefined
      : Number(cluster.leader !== undefined) + (cluster.replicas?.length ?? 0),
});
