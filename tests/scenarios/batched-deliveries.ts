import assert from 'node:assert/strict';
import type { Client } from '../harness/clients/client.ts';
import { createWebhook, deliveriesOf, webhooksPath as path } from '../harness/clients/webhook.ts';
import { eventually } from '../harness/eventually.ts';
import { at, type JsonObject } from '../harness/json.ts';
import type { Delivery, Receiver } from '../harness/servers/receiver.ts';
import type { Target } from '../harness/stacks/target.ts';

/** No batch of a test waits that long: each is full, or was sent before. */
export const longMs = 60_000;

/** A batch's bodies. */
export const eventsOf = ({ json }: Delivery): readonly JsonObject[] => json as unknown as readonly JsonObject[];
export const numbersOf = (delivery: Delivery): unknown[] =>
  eventsOf(delivery).map((event) => at(event, 'data.record.n'));

/** A collection whose records have numbers, and webhooks that send its events in batches. */
export interface BatchGround {
  readonly admin: Client;
  /** Makes a webhook, which ends with the test. */
  webhook(t: { after(end: () => Promise<unknown>): void }, batch: object, members?: object): Promise<JsonObject>;
  create(...numbers: number[]): Promise<void>;
  /** What has arrived since. */
  since(from: number): readonly Delivery[];
  /** Waits until so many deliveries have the status, and no more. */
  allIn(id: unknown, status: string, count: number): Promise<readonly JsonObject[]>;
}

/** Makes the collection. */
export async function prepareBatches(target: Target, receiver: Receiver, collection: string): Promise<BatchGround> {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', {
    name: collection,
    fields: [
      { name: 'n', type: 'number' },
      { name: 'text', type: 'text', options: { max: 700_000 } },
    ],
  });
  return {
    admin,
    async webhook(t, batch, members = {}) {
      receiver.behave({ status: 200 });
      const made = await createWebhook(admin, receiver.url, [`${collection}.*`], { batch, ...members });
      t.after(() => admin.delete(`${path}/${made.id}`));
      return made;
    },
    async create(...numbers) {
      for (const n of numbers) await admin.create(collection, { n });
    },
    since: (from) => receiver.deliveries.slice(from),
    allIn: (id, status, count) =>
      eventually(`${count} are ${status}`, async () => {
        const found = await deliveriesOf(admin, id, `?status=${status}`);
        assert.equal(found.length, count);
        return found;
      }),
  };
}
