import { ok, type Route, rawJson, route } from '@recordbus/shared/http';
import { z } from 'zod';
import { deliveriesQuery, deliveryJson, replayRequest } from '../webhooks/delivery-schema.ts';
import { getDelivery, listDeliveries } from '../webhooks/delivery-store.ts';
import { enqueueTest, redeliver, replay } from '../webhooks/enqueue-deliveries.ts';
import { endPause, getWebhook } from '../webhooks/webhook-store.ts';
import type { WebhookRoutesDeps } from './webhooks.ts';

const path = '/api/v1/admin/webhooks/:id';
const params = z.object({ id: z.string() });
const deliveryParams = z.object({ id: z.string(), deliveryId: z.string() });
const notThere = { 404: 'There is no such webhook or delivery.' };

/** Deliveries of a webhook: looking at them, and sending again. */
export const webhookDeliveryRoutes = ({ database: { query }, bus }: WebhookRoutesDeps): Route[] => [
  route({
    method: 'POST',
    idempotent: true,
    path: `${path}/test`,
    access: 'admin',
    summary: 'Send a synthetic event to this webhook only',
    params,
    answers: { 200: deliveryJson, ...notThere },
    handler: async ({ params: { id } }) => {
      const deliveryId = await enqueueTest(query, await getWebhook(query, id));
      const json = await getDelivery(query, id, deliveryId);
      await endPause(query, id);
      bus.notify('webhooks');
      return rawJson(200, json);
    },
  }),
  route({
    method: 'GET',
    path: `${path}/deliveries`,
    access: 'admin',
    summary: 'List the deliveries of a webhook, newest first',
    params,
    query: deliveriesQuery,
    answers: { 200: z.array(deliveryJson), ...notThere },
    handler: async ({ params: { id }, query: wanted }) => {
      await getWebhook(query, id);
      return rawJson(200, await listDeliveries(query, id, wanted));
    },
  }),
  route({
    method: 'GET',
    path: `${path}/deliveries/:deliveryId`,
    access: 'admin',
    summary: 'Get a delivery with its attempts',
    params: deliveryParams,
    answers: { 200: deliveryJson, ...notThere },
    handler: async ({ params: { id, deliveryId } }) => rawJson(200, await getDelivery(query, id, deliveryId)),
  }),
  route({
    method: 'POST',
    idempotent: true,
    path: `${path}/deliveries/:deliveryId/redeliver`,
    access: 'admin',
    summary: 'Make a new delivery of the same event',
    params: deliveryParams,
    answers: { 201: deliveryJson, ...notThere },
    handler: async ({ params: { id, deliveryId } }) => {
      const json = await getDelivery(query, id, await redeliver(query, id, deliveryId));
      bus.notify('webhooks');
      return rawJson(201, json);
    },
  }),
  route({
    method: 'POST',
    idempotent: true,
    path: `${path}/replay`,
    access: 'admin',
    summary: 'Make new deliveries of the events delivered since a time',
    params,
    body: replayRequest,
    answers: { 200: z.object({ count: z.number() }), ...notThere },
    handler: async ({ params: { id }, body }) => {
      await getWebhook(query, id);
      const count = await replay(query, id, body);
      if (count > 0) bus.notify('webhooks');
      return ok({ count });
    },
  }),
];
