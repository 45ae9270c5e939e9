import type { Client } from './client.ts';

export interface RegisteredWebhook {
  readonly url: string;
  readonly secret: string;
  /** Why the last delivery that failed did so, if one did. */
  findError(): Promise<string | undefined>;
  remove(): Promise<void>;
}

const path = '/api/v1/admin/webhooks';

/** Registers a webhook for every event of the countries. */
export async function registerWebhook(admin: Client, url: string): Promise<RegisteredWebhook> {
  const definition = { name: 'countries demo', url, events: ['countries.*'] };
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
