import { JetStreamApiError } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';

interface NamesAnswer {
  readonly total: number;
  readonly consumers?: readonly string[] | null;
  readonly error?: ConstructorParameters<typeof JetStreamApiError>[0];
}

const answerTimeoutMs = 5000;

/**
 * Returns the names of a stream's consumers (NATS documentation, "JetStream API", CONSUMER.NAMES), a question that the
 * client lacks. Its list of consumers asks each consumer's server: while one server of a cluster is down, and some
 * consumer was there alone, it takes four seconds. Throws JetStreamApiError when the server refuses.
 */
export async function findConsumerNames(
  connection: Pick<NatsConnection, 'request'>,
  stream: string,
): Promise<string[]> {
  const names: string[] = [];
  for (;;) {
    const answer = await connection.request(
      `$JS.API.CONSUMER.NAMES.${stream}`,
      JSON.stringify({ offset: names.length }),
      { timeout: answerTimeoutMs },
    );
    const { error, total, consumers } = answer.json<NamesAnswer>();
    if (error) throw new JetStreamApiError(error);
    const page = consumers ?? [];
    names.push(...page);
    if (page.length === 0 || names.length >= total) return names;
  }
}
