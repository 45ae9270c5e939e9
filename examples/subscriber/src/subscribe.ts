// Reads the events of the consumer `crm` forever, as a user without other permissions:
//   NATS_URL=nats://crm:…@127.0.0.1:4222 npm run node -- examples/subscriber/src/subscribe.ts crm
import { jetstream } from '@nats-io/jetstream';
import { connectAs } from './connect-as.ts';

interface Event {
  readonly id: string;
  readonly event: string;
  /** Unix seconds. */
  readonly timestamp: number;
  /** Null when the event was too large for a message; then read the record from the API. */
  readonly data: { readonly record: { readonly id: string } } | null;
}

const [name = 'crm'] = process.argv.slice(2);
const connection = await connectAs(process.env.NATS_URL ?? 'nats://127.0.0.1:4222', `_INBOX_${name}`);
const consumer = await jetstream(connection, { checkAPI: false }).consumers.get('EVENTS', name);
const messages = await consumer.consume();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => messages.stop());

/** Events arrive at least once. A system with a database stores the ids in the transaction that handles the event. */
const handled = new Set<string>();

for await (const message of messages) {
  const event = message.json<Event>();
  if (!handled.has(event.id)) {
    handle(event);
    handled.add(event.id);
  }
  // Acknowledged last: an unacknowledged message is delivered again.
  message.ack();
}
await connection.drain();

function handle({ id, event, data }: Event): void {
  process.stdout.write(`${event} ${data?.record.id ?? '(large)'} ${id}\n`);
}
