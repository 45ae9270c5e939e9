import type { Client } from './client.ts';

interface RegisteredWebhook {
  readonly url: string;
  readonly secret: string;
  /** Returns the last failed delivery's error, if any. */
  findError(): Promise<string | undefined>;
  remove(): Promise<void>;
}

const path = '/api/v1/admin/webhooks';

const name = 'countries demo';

/** Registers a webhook for all country events, and deletes one that a killed run left. */
export async function registerWebhook(admin: Client, url: string): Promise<RegisteredWebhook> {
  const existing = await admin.call<{ id: string; name: string }[]>('GET', `${path}?perPage=200`);
  for (const leftover of existing.filter((webhook) => webhook.name === name))
    await admin.call('DELETE', `${path}/${leftover.id}`);
  const definition = { name, url, events: ['countries.*'] };
  const { id, secret } = await admin.call<{ id: string; secret: string }>('POST', path, definition);
  return {
    url,
    secret,
    async findError() {
      const deliveries = await admin.call<{ error: string | null }[]>('GET', `${path}/${id}/deliveries?perPage=20`);
      return deliveries.find(({ error }) => error)?.error ?? undefined;
    },
    async remove() {
      await admin.call('DELETE', `${path}/${id}`);
    },
  };
}
