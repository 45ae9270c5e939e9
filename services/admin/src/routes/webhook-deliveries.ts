import type { Bus } from '@recordbus/bus';
import type { Database } from '@recordbus/database';
import { ok, pageOf, type Route, rawJson, route } from '@recordbus/http';
import { z } from 'zod';
import { auditWebhook } from '../webhooks/audit-webhook.ts';
import { deliveriesQuery, deliveryJson, replayRequest } from '../webhooks/delivery-schema.ts';
import { getDelivery, listDeliveries } from '../webhooks/delivery-store.ts';
import { countReplay, enqueueTest, redeliver, replay } from '../webhooks/enqueue-deliveries.ts';
import { replayMissing } from '../webhooks/replay-missing.ts';
import { unblock, unblockRequest } from '../webhooks/unblock.ts';
import { endPause, getWebhook } from '../webhooks/webhook-store.ts';
import type { WebhookPlace } from './webhook-place.ts';

interface WebhookDeliveryRoutesDeps {
  readonly database: Database;
  readonly bus: Pick<Bus, 'notify'>;
}

const params = z.object({ id: z.string() });
const deliveryParams = z.object({ id: z.string(), deliveryId: z.string() });
const noSuchDelivery = { 404: 'There is no such webhook or delivery.' };

/** Routes for a webhook's deliveries, at one place (webhooks §4, §9.6). */
export const webhookDeliveryRoutes = (
  { database: { query, transaction }, bus }: WebhookDeliveryRoutesDeps,
  { path, access, sessionHeader, whose, reader, admit }: WebhookPlace,
): Route[] => [
  route({
    method: 'POST',
    idempotent: true,
    sessionHeader,
    path: `${path}/:id/test`,
    access,
    scope: 'webhooks:write',
    summary: `Send a test event to one webhook${whose}`,
    params,
    answers: { 200: deliveryJson, ...noSuchDelivery },
    handler: async (input) => {
      const { id } = input.params;
      await admit(input);
      const json = await transaction(async (run) => {
        const deliveryId = await enqueueTest(run, await getWebhook(run, id));
        await endPause(run, id);
        await auditWebhook(run, input, 'webhooks.test', id);
        return getDelivery(run, reader, id, deliveryId);
      });
      bus.notify('webhooks');
      return rawJson(200, json);
    },
  }),
  route({
    method: 'GET',
    path: `${path}/:id/deliveries`,
    access,
    scope: 'webhooks:read',
    summary: `List the deliveries of a webhook${whose}, newest first`,
    params,
    query: deliveriesQuery,
    answers: { 200: pageOf(deliveryJson), ...noSuchDelivery },
    handler: async (input) => {
      const {
        params: { id },
        query: wanted,
      } = input;
      await admit(input);
      await getWebhook(query, id);
      return rawJson(200, await listDeliveries(query, reader, id, wanted));
    },
  }),
  route({
    method: 'GET',
    path: `${path}/:id/deliveries/:deliveryId`,
    access,
    scope: 'webhooks:read',
    summary: `Get a delivery with its attempts, of a webhook${whose}`,
    params: deliveryParams,
    answers: { 200: deliveryJson, ...noSuchDelivery },
    handler: async (input) => {
      await admit(input);
      return rawJson(200, await getDelivery(query, reader, input.params.id, input.params.deliveryId));
    },
  }),
  route({
    method: 'POST',
    idempotent: true,
    sessionHeader,
    path: `${path}/:id/deliveries/:deliveryId/redeliver`,
    access,
    scope: 'webhooks:write',
    summary: `Create a new delivery for the same event, of a webhook${whose}`,
    params: deliveryParams,
    answers: { 201: deliveryJson, ...noSuchDelivery, 409: 'Its payload is no longer kept.' },
    handler: async (input) => {
      const { id, deliveryId } = input.params;
      await admit(input);
      const json = await transaction(async (run) => {
        const newDeliveryId = await redeliver(run, id, deliveryId);
        await auditWebhook(run, input, 'webhooks.redeliver', id, { delivery_id: deliveryId });
        return getDelivery(run, reader, id, newDeliveryId);
      });
      bus.notify('webhooks');
      return rawJson(201, json);
    },
  }),
  route({
    method: 'POST',
    idempotent: true,
    sessionHeader,
    path: `${path}/:id/replay`,
    access,
    scope: 'webhooks:write',
    summary: `Create new deliveries for all events that a webhook${whose} got in a time range, or only count them`,
    params,
    body: replayRequest,
    answers: { 200: z.object({ count: z.number() }), ...noSuchDelivery },
    handler: async (input) => {
      const { params, body } = input;
      await admit(input);
      if (body.dry_run) {
        const webhook = await getWebhook(query, params.id);
        const missing = body.missing ? await replayMissing({ query, bus }, webhook, body) : 0;
        return ok({ count: missing + (await countReplay(query, params.id, body)) });
      }
      const count = await transaction(async (run) => {
        const enqueued = await replay(run, await getWebhook(run, params.id), body);
        await auditWebhook(run, input, 'webhooks.replay', params.id, {
          since: body.since,
          until: body.until,
          count: enqueued,
        });
        return enqueued;
      });
      if (count > 0) bus.notify('webhooks');
      // Afterwards: by now, the first statement cannot find what this creates.
      const missing = body.missing ? await replayMissing({ query, bus }, await getWebhook(query, params.id), body) : 0;
      return ok({ count: count + missing });
    },
  }),
  route({
    method: 'POST',
    idempotent: true,
    sessionHeader,
    path: `${path}/:id/unblock`,
    access,
    scope: 'webhooks:write',
    summary: `Give up or repeat the dead delivery that blocks an ordered webhook${whose}`,
    params,
    body: unblockRequest,
    answers: { 200: deliveryJson, 404: 'There is no such webhook.', 409: 'No such delivery blocks it.' },
    handler: async (input) => {
      const {
        params: { id },
        body,
      } = input;
      await admit(input);
      const json = await transaction(async (run) => {
        await getWebhook(run, id);
        const deliveryId = await unblock(run, id, body);
        if (body.action === 'retry') await endPause(run, id);
        await auditWebhook(run, input, 'webhooks.unblock', id, { delivery_id: deliveryId, action: body.action });
        return getDelivery(run, reader, id, deliveryId);
      });
      bus.notify('webhooks');
      return rawJson(200, json);
    },
  }),
];
