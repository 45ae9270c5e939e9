import type { ConsumerInfo } from '@nats-io/jetstream';
import type { DurableConsumer } from './ensure-consumer.ts';
import type { StreamState } from './stream-state.ts';

/** The sequence numbers that a consumer has missed, from the first to the last. */
export interface StreamGap {
  readonly from: number;
  readonly to: number;
  /** Whether the consumer reads only some subjects, so that it may not have wanted the dropped messages. */
  readonly isPartial: boolean;
}

/** Finds the messages that the stream dropped before a consumer read them; undefined when there are none. */
export function findGap(
  { firstSequence, oldestAt }: Pick<StreamState, 'firstSequence' | 'oldestAt'>,
  { delivered }: { readonly delivered: Pick<ConsumerInfo['delivered'], 'consumer_seq' | 'stream_seq'> },
  { subject, from }: Pick<DurableConsumer, 'subject' | 'from'>,
): StreamGap | undefined {
  // The server starts a new consumer after the dropped messages, so only its start time shows that it missed some.
  const isNew = delivered.consumer_seq === 0;
  const startedTooLate =
    isNew && from instanceof Date && firstSequence > 1 && oldestAt !== undefined && oldestAt > from;
  if (!startedTooLate && delivered.stream_seq + 1 >= firstSequence) return undefined;
  const wanted = startedTooLate ? 1 : delivered.stream_seq + 1;
  return { from: wanted, to: firstSequence - 1, isPartial: !subject.endsWith('.>') || startedTooLate };
}
