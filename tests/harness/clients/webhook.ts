import { eventually } from '../eventually.ts';
import { type JsonObject, listAt } from '../json.ts';
import type { Client } from './client.ts';

export const webhooksPath = '/api/v1/admin/webhooks';

/** Allows deliveries to the loopback addresses, where the tests' receivers listen. */
export const allowLoopback = (admin: Client): Promise<JsonObject> =>
  admin.patch('/api/v1/admin/settings', { 'hooks.http.allow': '127.0.0.0/8' });

/** Creates a webhook for a test's receiver, with quick retries. */
export async function createWebhook(
  admin: Client,
  url: string,
  events: readonly string[],
  members: object = {},
): Promise<JsonObject> {
  await allowLoopback(admin);
  return admin.post(webhooksPath, { name: 'sink', url, events, retry_delay_ms: 100, ...members });
}

/** Returns a webhook's logged deliveries, newest first. */
export const deliveriesOf = async (admin: Client, webhookId: unknown, query = ''): Promise<readonly JsonObject[]> =>
  listAt((await admin.get(`${webhooksPath}/${webhookId}/deliveries${query}`)).json, 'data');

/** Waits until one of a webhook's deliveries has the given status. */
export const deliveryIn = (
  admin: Client,
  webhookId: unknown,
  status: 'success' | 'dead',
  timeoutMs?: number,
): Promise<JsonObject> =>
  eventually(
    `a delivery is ${status}`,
    async () => {
      const deliveries = await deliveriesOf(admin, webhookId);
      const found = deliveries.find((delivery) => delivery.status === status);
      if (!found) throw new Error(JSON.stringify(deliveries));
      return found;
    },
    timeoutMs === undefined ? {} : { timeoutMs },
  );
