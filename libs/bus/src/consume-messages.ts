import type { Consumer, JsMsg } from '@nats-io/jetstream';
import type { Bus } from './bus.ts';

interface ConsumeOptions {
  readonly bus: Bus;
  readonly consumer: Consumer;
  /** How many messages may wait in this process. */
  readonly maxMessages: number;
  /** Called with one message at a time, and with the next one after it has resolved. */
  readonly take: (message: JsMsg) => void | Promise<void>;
  readonly ending: AbortSignal;
}

/**
 * Takes a consumer's messages until `ending` aborts. Also returns when the consumer is silent, and at a new connection:
 * the caller then looks for the consumer again, whose server may be gone while the cluster still lists it. The NATS
 * client alone would wait up to ten seconds between two tries. Throws when the consumer or its stream is gone.
 */
export async function consumeMessages({ bus, consumer, maxMessages, take, ending }: ConsumeOptions): Promise<void> {
  const messages = await consumer.consume({
    max_messages: maxMessages,
    expires: 10_000,
    idle_heartbeat: 2000,
    abort_on_missing_resource: true,
  });
  // Not awaited, since closing ends with the loop below.
  const end = () => void messages.close();
  if (ending.aborted) end();
  ending.addEventListener('abort', end);
  const { generation } = bus;
  const endConnects = bus.onConnect(() => {
    if (bus.generation !== generation) end();
  });
  const watching = (async () => {
    for await (const { type } of messages.status()) if (type === 'heartbeats_missed') end();
  })();
  watching.catch(end);
  try {
    for await (const message of messages) await take(message);
  } finally {
    endConnects();
    ending.removeEventListener('abort', end);
  }
}
