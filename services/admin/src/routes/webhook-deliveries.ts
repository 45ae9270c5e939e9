import type { Bus } from '@recordbus/bus';
import type { Database } from '@recordbus/database';
import { ok, pageOf, type Route, rawJson, route } from '@recordbus/http';
import { z } from 'zod';
import { auditWebhook } from '../webhooks/audit-webhook.ts';
import { deliveriesQuery, deliveryJson, replayRequest } from '../webhooks/delivery-schema.ts';
import { getDelivery, listDeliveries } from '../webhooks/delivery-store.ts';
import { countReplay, enqueueTest, redeliver, replay } from '../webhooks/enqueue-deliveries.ts';
import { endPause, getWebhook } from '../webhooks/webhook-store.ts';

interface WebhookDeliveryRoutesDeps {
  readonly database: Database;
  readonly bus: Pick<Bus, 'notify'>;
}

const path = '/api/v1/admin/webhooks/:id';
const params = z.object({ id: z.string() });
const deliveryParams = z.object({ id: z.string(), deliveryId: z.string() });
const noSuchDelivery = { 404: 'There is no such webhook or delivery.' };

/** Routes for a webhook's deliveries (webhooks §4). */
export const webhookDeliveryRoutes = ({
  database: { query, transaction },
  bus,
}: WebhookDeliveryRoutesDeps): Route[] => [
  route({
    method: 'POST',
    idempotent: true,
    path: `${path}/test`,
    access: 'admin',
    scope: 'webhooks:write',
    summary: 'Send a test event to this webhook only',
    params,
    answers: { 200: deliveryJson, ...noSuchDelivery },
    handler: async (input) => {
      const { id } = input.params;
      const json = await transaction(async (run) => {
        const deliveryId = await enqueueTest(run, await getWebhook(run, id));
        await endPause(run, id);
        await auditWebhook(run, input, 'webhooks.test', id);
        return getDelivery(run, id, deliveryId);
      });
      bus.notify('webhooks');
      return rawJson(200, json);
    },
  }),
  route({
    method: 'GET',
    path: `${path}/deliveries`,
    access: 'admin',
    scope: 'webhooks:read',
    summary: "List a webhook's deliveries, newest first",
    params,
    query: deliveriesQuery,
    answers: { 200: pageOf(deliveryJson), ...noSuchDelivery },
    handler: async ({ params: { id }, query: wanted }) => {
      await getWebhook(query, id);
      return rawJson(200, await listDeliveries(query, id, wanted));
    },
  }),
  route({
    method: 'GET',
    path: `${path}/deliveries/:deliveryId`,
    access: 'admin',
    scope: 'webhooks:read',
    summary: 'Get a delivery with its attempts',
    params: deliveryParams,
    answers: { 200: deliveryJson, ...noSuchDelivery },
    handler: async ({ params: { id, deliveryId } }) => rawJson(200, await getDelivery(query, id, deliveryId)),
  }),
  route({
    method: 'POST',
    idempotent: true,
    path: `${path}/deliveries/:deliveryId/redeliver`,
    access: 'admin',
    scope: 'webhooks:write',
    summary: 'Create a new delivery for the same event',
    params: deliveryParams,
    answers: { 201: deliveryJson, ...noSuchDelivery },
    handler: async (input) => {
      const { id, deliveryId } = input.params;
      const json = await transaction(async (run) => {
        const newDeliveryId = await redeliver(run, id, deliveryId);
        await auditWebhook(run, input, 'webhooks.redeliver', id, { delivery_id: deliveryId });
        return getDelivery(run, id, newDeliveryId);
      });
      bus.notify('webhooks');
      return rawJson(201, json);
    },
  }),
  route({
    method: 'POST',
    idempotent: true,
    path: `${path}/replay`,
    access: 'admin',
    scope: 'webhooks:write',
    summary: 'Create new deliveries for all events delivered in a time range, or only count them',
    params,
    body: replayRequest,
    answers: { 200: z.object({ count: z.number() }), ...noSuchDelivery },
    handler: async (input) => {
      const { params, body } = input;
      if (body.dry_run) {
        await getWebhook(query, params.id);
        return ok({ count: await countReplay(query, params.id, body) });
      }
      const count = await transaction(async (run) => {
        await getWebhook(run, params.id);
        const enqueued = await replay(run, params.id, body);
        await auditWebhook(run, input, 'webhooks.replay', params.id, {
          since: body.since,
          until: body.until,
          count: enqueued,
        });
        return enqueued;
      });
      if (count > 0) bus.notify('webhooks');
      return ok({ count });
    },
  }),
];
