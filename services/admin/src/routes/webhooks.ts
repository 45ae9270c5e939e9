import type { Bus } from '@recordbus/bus';
import type { Database } from '@recordbus/database';
import { created, ok, page, pageOf, pageQuery, type Route, route } from '@recordbus/http';
import { z } from 'zod';
import { auditWebhook } from '../webhooks/audit-webhook.ts';
import { newSecret, newWebhook, secretRegeneration, webhookChange, webhookJson } from '../webhooks/webhook-schema.ts';
import { getWebhookStatus, webhookStatusJson } from '../webhooks/webhook-status.ts';
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhooks,
  regenerateSecret,
} from '../webhooks/webhook-store.ts';

interface WebhookRoutesDeps {
  readonly database: Database;
  readonly bus: Pick<Bus, 'notify'>;
}

const path = '/api/v1/admin/webhooks';
const params = z.object({ id: z.string() });
const noSuchWebhook = { 404: 'There is no such webhook.' };

/** Routes for webhook definitions (webhooks §1). */
export const webhookRoutes = ({ database: { query, transaction }, bus }: WebhookRoutesDeps): Route[] => [
  route({
    method: 'GET',
    path,
    access: 'admin',
    scope: 'webhooks:read',
    summary: 'List webhooks, newest first',
    query: pageQuery,
    answers: { 200: pageOf(webhookJson) },
    handler: async ({ query: wanted }) => {
      const { rows, totalItems } = await listWebhooks(query, wanted);
      return page(rows, { ...wanted, totalItems });
    },
  }),
  route({
    method: 'POST',
    idempotent: true,
    path,
    access: 'admin',
    scope: 'webhooks:write',
    summary: 'Create a webhook',
    body: newWebhook,
    answers: { 201: webhookJson },
    handler: async (input) => {
      const webhook = await transaction(async (run) => {
        const made = await createWebhook(run, input.body);
        await auditWebhook(run, input, 'webhooks.create', made.id, { name: made.name, url: made.url });
        return made;
      });
      return created(webhook);
    },
  }),
  route({
    method: 'GET',
    path: `${path}/:id`,
    access: 'admin',
    scope: 'webhooks:read',
    summary: 'Get a webhook, secret included',
    params,
    answers: { 200: webhookJson, ...noSuchWebhook },
    handler: async ({ params: { id } }) => ok(await getWebhook(query, id)),
  }),
  route({
    method: 'PATCH',
    path: `${path}/:id`,
    access: 'admin',
    scope: 'webhooks:write',
    summary: 'Change a webhook; the change counts from the next attempt on',
    params,
    body: webhookChange,
    answers: { 200: webhookJson, ...noSuchWebhook },
    handler: async (input) => {
      const { params, body } = input;
      const webhook = await transaction(async (run) => {
        const changed = await changeWebhook(run, params.id, body);
        await auditWebhook(run, input, 'webhooks.update', params.id, { changed: Object.keys(body) });
        return changed;
      });
      bus.notify('webhooks');
      return ok(webhook);
    },
  }),
  route({
    method: 'DELETE',
    path: `${path}/:id`,
    access: 'admin',
    scope: 'webhooks:write',
    summary: 'Delete a webhook and its deliveries',
    params,
    answers: { 200: z.null(), ...noSuchWebhook },
    handler: async (input) => {
      const { id } = input.params;
      await transaction(async (run) => {
        await deleteWebhook(run, id);
        await auditWebhook(run, input, 'webhooks.delete', id);
      });
      return ok(null);
    },
  }),
  route({
    method: 'POST',
    idempotent: true,
    path: `${path}/:id/regenerate-secret`,
    access: 'admin',
    scope: 'webhooks:write',
    summary: "Replace a webhook's secret; the old secret also signs for a while, in the Standard Webhooks header",
    params,
    body: secretRegeneration,
    answers: { 200: webhookJson, ...noSuchWebhook },
    handler: async (input) => {
      const { params, body } = input;
      const webhook = await transaction(async (run) => {
        const changed = await regenerateSecret(run, params.id, newSecret(), body.overlap_seconds);
        await auditWebhook(run, input, 'webhooks.regenerate-secret', params.id);
        return changed;
      });
      bus.notify('webhooks');
      return ok(webhook);
    },
  }),
  route({
    method: 'GET',
    path: `${path}/:id/status`,
    access: 'admin',
    scope: 'webhooks:read',
    summary: 'Get whether a webhook is paused or failing, and its pending deliveries',
    params,
    answers: { 200: webhookStatusJson, ...noSuchWebhook },
    handler: async ({ params: { id } }) => ok(await getWebhookStatus(query, id)),
  }),
];
