import type { ConsumerMessages } from '@nats-io/jetstream';
import type { Bus } from './bus.ts';

/**
 * Ends the reading of a consumer that is silent, and the reading at each new connection to the bus. The reader then
 * looks for the consumer again, whose server may be gone while the cluster still lists it. The NATS client alone would
 * wait up to ten seconds between two tries. Returns a function that ends the watch.
 */
export function endWhenSilent(bus: Bus, messages: ConsumerMessages): () => void {
  const { generation } = bus;
  const end = () => void messages.close();
  const endConnects = bus.onConnect(() => {
    if (bus.generation !== generation) end();
  });
  const watching = (async () => {
    for await (const { type } of messages.status()) if (type === 'heartbeats_missed') end();
  })();
  watching.catch(end);
  return endConnects;
}
