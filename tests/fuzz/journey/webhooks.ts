import { eventually } from '../../harness/eventually.ts';
import { at, listAt, textAt } from '../../harness/json.ts';
import type { Call } from './survey.ts';

interface Parts {
  readonly call: Call;
  readonly admin: string;
}

/** A record that owns webhooks. */
interface Owner {
  readonly collection: string;
  readonly id: string;
}

/** Calls the webhook operations. Returns the ids of a webhook that stays and of its delivery. */
export async function goThroughWebhooks({ call, admin: as }: Parts): Promise<{ id: string; deliveryId: string }> {
  const body = { name: 'journey', url: 'http://127.0.0.1:9/', events: ['everything.create'] };
  const make = async () => textAt((await call('postAdminWebhooks', { as, body })).json, 'data.id');
  await call('deleteAdminWebhooksById', { as, path: { id: await make() } });
  const id = await make();
  const path = { id };
  await call('getAdminWebhooks', { as, query: { perPage: '3' } });
  await call('getAdminWebhooksById', { as, path });
  await call('patchAdminWebhooksById', { as, path, body: { name: 'renamed', ordering: 'all', retry_max: 0 } });
  await call('postAdminWebhooksByIdRegenerateSecret', { as, path, body: { overlap_seconds: 60 } });
  await call('getAdminWebhooksByIdStatus', { as, path });
  const deliveryId = textAt((await call('postAdminWebhooksByIdTest', { as, path })).json, 'data.id');
  await call('getAdminWebhooksByIdDeliveries', { as, path, query: { event: 'webhook.test' } });
  await call('getAdminWebhooksByIdDeliveriesByDeliveryId', { as, path: { id, deliveryId } });
  await call('postAdminWebhooksByIdDeliveriesByDeliveryIdRedeliver', { as, path: { id, deliveryId } });
  // Its redelivery is dead, since nobody listens at its URL.
  await eventually(
    'a delivery blocks the webhook',
    async () => at((await call('getAdminWebhooksByIdStatus', { as, path })).json, 'data.blocking') !== null,
  );
  await call('postAdminWebhooksByIdUnblock', { as, path, body: { action: 'skip' } });
  await call('patchAdminWebhooksById', { as, path, body: { ordering: 'none' } });
  await call('postAdminWebhooksByIdReplay', { as, path, body: { since: 0 } });
  const event = await eventually('a delivery is dead', async () => {
    const query = { perPage: '2', webhook: id, status: 'dead' };
    const [found] = listAt((await call('getAdminEvents', { as, query })).json, 'data');
    return found && textAt(found, 'id');
  });
  await call('getAdminEventsById', { as, path: { id: event } });
  await call('getAdminDeliveriesSummary', { as, query: { buckets: '5' } });
  return { id, deliveryId };
}

/** Calls the operations of webhooks that a record owns, and opens a link to their portal. */
export async function goThroughOwnedWebhooks({ call, admin: as }: Parts, owner: Owner): Promise<void> {
  await call('patchAdminSettings', { as, body: { [`webhooks.owners.${owner.collection}`]: '{}' } });
  const query = { owner: `${owner.collection}/${owner.id}` };
  await call('getWebhooksEvents', { as, query });
  const body = { name: 'of an owner', url: 'https://127.0.0.1/', events: ['everything.create'] };
  const { json: made } = await call('postWebhooks', { as, query, body });
  const id = textAt(made, 'data.id');
  const one = { as, query, path: { id } };
  await call('getWebhooks', { as, query });
  await call('getWebhooksById', one);
  await call('patchWebhooksById', { ...one, body: { name: 'renamed', ordering: 'all', retry_max: 0 } });
  await call('postWebhooksByIdRegenerateSecret', { ...one, body: {} });
  await call('getWebhooksByIdStatus', one);
  const deliveryId = textAt((await call('postWebhooksByIdTest', one)).json, 'data.id');
  const delivery = { ...one, path: { id, deliveryId } };
  await call('getWebhooksByIdDeliveries', one);
  await call('getWebhooksByIdDeliveriesByDeliveryId', delivery);
  await call('postWebhooksByIdDeliveriesByDeliveryIdRedeliver', delivery);
  await eventually(
    'a delivery blocks the webhook',
    async () => at((await call('getWebhooksByIdStatus', one)).json, 'data.blocking') !== null,
  );
  await call('postWebhooksByIdUnblock', { ...one, body: { action: 'retry' } });
  await call('postWebhooksByIdReplay', { ...one, body: { since: 0 } });
  await call('deleteWebhooksById', one);
  const { json: read } = await call('postWebhooks', { as, query, body: { name: 'read', type: 'poll', events: ['*'] } });
  const headers = { 'X-Webhook-Key': textAt(read, 'data.key') };
  await call('getWebhooksByIdEvents', { headers, path: { id: textAt(read, 'data.id') } });
  const link = textAt((await call('postAdminWebhooksPortal', { as, body: { owner } })).json, 'data.path');
  await call('postWebhooksPortal', { body: { token: link.slice(link.indexOf('#') + 1) } });
}
