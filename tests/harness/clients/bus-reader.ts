import { DeliverPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, headers } from '@nats-io/transport-node';
import { eventually } from '../eventually.ts';
import type { JsonObject } from '../json.ts';

/** A stream message as another system reads it (events §2). */
export interface BusEvent {
  readonly subject: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
}

/** Reads the stream EVENTS with its own consumer. */
export interface BusReader extends AsyncDisposable {
  readonly events: readonly BusEvent[];
  /** Publishes a message again and returns what the stream did with it. */
  publish(
    subject: string,
    body: string,
    headers: Readonly<Record<string, string>>,
    messageId: string,
  ): Promise<'stored' | 'duplicate'>;
}

interface ReaderOptions {
  /** Whether to read only what comes after the opening. A borrowed stack's stream has events from many files. */
  readonly isFromNow?: boolean;
}

/**
 * Opens a reader for the whole stream, which survives a bus restart, and connects to all servers in a cluster. Throws
 * when the stream does not exist within ten seconds.
 */
export async function openBusReader(natsUrl: string, { isFromNow }: ReaderOptions = {}): Promise<BusReader> {
  const urls = natsUrl.split(',').map((url) => new URL(url));
  const { username: user, password: pass } = urls[0] ?? {};
  const servers = urls.map(({ host }) => host);
  const reconnecting = { maxReconnectAttempts: -1, reconnectTimeWait: 50 };
  const connection = await connect({ servers, ...(user && { user, pass }), ...reconnecting });
  const manager = await jetstreamManager(connection, { checkAPI: false });
  const { state } = await eventually('the stream EVENTS exists', () => manager.streams.info('EVENTS'));
  const consumer = await jetstream(connection).consumers.get('EVENTS', {
    filter_subjects: 'events.>',
    ...(isFromNow && { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: state.last_seq + 1 }),
  });
  // In a cluster the server may lose the first request for messages. The client repeats it after two missed heartbeats,
  // which would take up to 45 seconds by default.
  const messages = await consumer.consume({ expires: 10_000, idle_heartbeat: 1000 });
  const events: BusEvent[] = [];
  const reading = (async () => {
    for await (const message of messages) {
      const values = Object.fromEntries(
        [...(message.headers?.keys() ?? [])].map((name) => [name, message.headers?.get(name) ?? '']),
      );
      events.push({ subject: message.subject, headers: values, body: parse(message.string()) });
    }
  })();
  return {
    events,
    async publish(subject, body, others, msgID) {
      const set = headers();
      for (const [name, value] of Object.entries(others)) if (!name.startsWith('Nats-')) set.set(name, value);
      const { duplicate } = await jetstream(connection).publish(subject, body, { headers: set, msgID });
      return duplicate ? 'duplicate' : 'stored';
    },
    async [Symbol.asyncDispose]() {
      messages.stop();
      await connection.close();
      await reading;
    },
  };
}

/** Returns a message's body; undefined for one that is not an event. */
function parse(text: string): JsonObject {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
