import type { ConsumerInfo, StreamState } from '@nats-io/jetstream';
import type { DurableConsumer } from './ensure-consumer.ts';

/** The sequence numbers that a consumer has missed, from the first to the last. */
export interface StreamGap {
  readonly from: number;
  readonly to: number;
  /** Whether the consumer reads only some subjects, so that it may not have wanted the dropped messages. */
  readonly isPartial: boolean;
}

/** Finds the messages that the stream dropped before a consumer read them; undefined when there are none. */
export function findGap(
  { first_seq, first_ts, messages }: Pick<StreamState, 'first_seq' | 'first_ts' | 'messages'>,
  { delivered }: { readonly delivered: Pick<ConsumerInfo['delivered'], 'consumer_seq' | 'stream_seq'> },
  { subject, from }: Pick<DurableConsumer, 'subject' | 'from'>,
): StreamGap | undefined {
  // The server starts a new consumer after the dropped messages, so only its start time shows that it missed some.
  const isNew = delivered.consumer_seq === 0;
  const startedTooLate = isNew && from instanceof Date && messages > 0 && first_seq > 1 && new Date(first_ts) > from;
  if (!startedTooLate && delivered.stream_seq + 1 >= first_seq) return undefined;
  const wanted = startedTooLate ? 1 : delivered.stream_seq + 1;
  return { from: wanted, to: first_seq - 1, isPartial: !subject.endsWith('.>') || startedTooLate };
}
