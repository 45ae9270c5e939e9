// Reads the events of the consumer `crm`, for ever, as a user that may do nothing else:
//   NATS_URL=nats://crm:…@127.0.0.1:4222 node src/subscribe.ts crm
import { jetstream } from '@nats-io/jetstream';
import { connectAs } from './connect-as.ts';

interface Event {
  readonly id: string;
  readonly event: string;
  /** Unix seconds. */
  readonly timestamp: number;
  /** Null when the event was too large for a message; then ask the API for the record. */
  readonly data: { readonly record: { readonly id: string } } | null;
}

const [name = 'crm'] = process.argv.slice(2);
const connection = await connectAs(process.env.NATS_URL ?? 'nats://127.0.0.1:4222', `_INBOX_${name}`);
const consumer = await jetstream(connection, { checkAPI: false }).consumers.get('EVENTS', name);
const messages = await consumer.consume();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => messages.stop());

/** Events come at least once. A system with a database keeps the ids there, in the transaction that does the work. */
const handled = new Set<string>();

for await (const message of messages) {
  const event = message.json<Event>();
  if (!handled.has(event.id)) {
    handle(event);
    handled.add(event.id);
  }
  // Only now: what is not acknowledged comes again.
  message.ack();
}
await connection.drain();

function handle({ id, event, data }: Event): void {
  process.stdout.write(`${event} ${data?.record.id ?? '(large)'} ${id}\n`);
}
