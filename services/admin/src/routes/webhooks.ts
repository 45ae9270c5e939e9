import type { Bus } from '@recordbus/bus';
import type { Database, Query } from '@recordbus/database';
import { validationFailed } from '@recordbus/errors';
import { created, mayWarn, ok, page, pageOf, pageQuery, type Route, route, withWarnings } from '@recordbus/http';
import { z } from 'zod';
import { keepCollections, requireUsableFilter } from '../references/check-filter.ts';
import { auditWebhook } from '../webhooks/audit-webhook.ts';
import { findGivenOwner, type OwnerAccessDeps } from '../webhooks/owner-access.ts';
import { newKey } from '../webhooks/polled-events.ts';
import { warningsOfPatterns } from '../webhooks/warn-of-patterns.ts';
import { checkOwned, setOwner } from '../webhooks/webhook-owner.ts';
import {
  findSendingProblems,
  findTypeProblem,
  newSecret,
  secretRegeneration,
  type Webhook,
  webhookChange,
  webhookJson,
  webhookWithKey,
} from '../webhooks/webhook-schema.ts';
import { getWebhookStatus, webhookStatusJson } from '../webhooks/webhook-status.ts';
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhooks,
  regenerateSecret,
  setKey,
} from '../webhooks/webhook-store.ts';
import type { WebhookPlace } from './webhook-place.ts';

interface WebhookRoutesDeps {
  readonly database: Database;
  readonly bus: Pick<Bus, 'notify'>;
  readonly owners: Omit<OwnerAccessDeps, 'query'>;
}

const params = z.object({ id: z.string() });
const noSuchWebhook = { 404: 'There is no such webhook.' };

/** Gives a webhook whose events are read a new key. */
async function withNewKey(query: Query, webhook: Webhook): Promise<z.output<typeof webhookWithKey>> {
  if (webhook.type !== 'poll') return webhook;
  const key = newKey();
  await setKey(query, webhook.id, key);
  return { ...webhook, key };
}

/** Routes for webhook definitions, at one place (webhooks §1, §9.6). */
export const webhookRoutes = (
  { database: { query, transaction }, bus, owners }: WebhookRoutesDeps,
  { path, access, sessionHeader, whose, admit, bodies }: WebhookPlace,
): Route[] => [
  route({
    method: 'GET',
    path,
    access,
    scope: 'webhooks:read',
    summary: `List webhooks${whose}, newest first`,
    query: pageQuery,
    answers: { 200: pageOf(webhookJson) },
    handler: async (input) => {
      const { query: wanted } = input;
      const { rows, totalItems } = await listWebhooks(query, { ...wanted, owner: await admit(input) });
      return page(rows, { ...wanted, totalItems });
    },
  }),
  route({
    method: 'POST',
    idempotent: true,
    sessionHeader,
    path,
    access,
    scope: 'webhooks:write',
    summary: `Create a webhook${whose}`,
    body: bodies.create,
    answers: { 201: mayWarn(webhookWithKey) },
    handler: async (input) => {
      const admitted = await admit(input);
      const owner = admitted ?? (input.body.owner && findGivenOwner(owners, input.body.owner));
      if (owner) checkOwned(owner, input.body);
      const webhook = await transaction(async (run) => {
        await keepCollections(run);
        const { id } = await createWebhook(run, input.body);
        if (owner) await setOwner(run, id, owner);
        const made = await withNewKey(run, await getWebhook(run, id));
        await requireUsableFilter(run, made);
        await auditWebhook(run, input, 'webhooks.create', made.id, { name: made.name, url: made.url });
        return made;
      });
      // The service that delivers looks for webhooks with an order or batches.
      if (webhook.ordering !== 'none' || webhook.batch) bus.notify('webhooks');
      return withWarnings(created(webhook), admitted ? [] : await warningsOfPatterns(query, webhook.events));
    },
  }),
  route({
    method: 'GET',
    path: `${path}/:id`,
    access,
    scope: 'webhooks:read',
    summary: `Get a webhook${whose}, secret included`,
    params,
    answers: { 200: webhookJson, ...noSuchWebhook },
    handler: async (input) => {
      await admit(input);
      return ok(await getWebhook(query, input.params.id));
    },
  }),
  route({
    method: 'PATCH',
    path: `${path}/:id`,
    access,
    scope: 'webhooks:write',
    summary: `Change a webhook${whose}; the change counts from the next attempt on`,
    params,
    body: webhookChange,
    answers: { 200: mayWarn(webhookJson), ...noSuchWebhook },
    handler: async (input) => {
      const { params, body } = input;
      const admitted = await admit(input);
      const given = admitted ? null : (await getWebhook(query, params.id)).owner;
      const owner = admitted ?? (given && findGivenOwner(owners, given));
      if (owner) checkOwned(owner, body);
      const webhook = await transaction(async (run) => {
        const mayName = body.filter !== undefined || body.events !== undefined;
        if (mayName) await keepCollections(run);
        const changed = await changeWebhook(run, params.id, body);
        const problem = findTypeProblem(changed);
        if (problem !== undefined) throw validationFailed({ url: problem });
        const problems = findSendingProblems(changed);
        if (Object.keys(problems).length > 0) throw validationFailed(problems);
        if (mayName) await requireUsableFilter(run, changed);
        await auditWebhook(run, input, 'webhooks.update', params.id, { changed: Object.keys(body) });
        return changed;
      });
      bus.notify('webhooks');
      return withWarnings(ok(webhook), admitted ? [] : await warningsOfPatterns(query, webhook.events));
    },
  }),
  route({
    method: 'DELETE',
    path: `${path}/:id`,
    access,
    scope: 'webhooks:write',
    summary: `Delete a webhook${whose} and its deliveries`,
    params,
    answers: { 200: z.null(), ...noSuchWebhook },
    handler: async (input) => {
      const { id } = input.params;
      await admit(input);
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
    sessionHeader,
    path: `${path}/:id/regenerate-secret`,
    access,
    scope: 'webhooks:write',
    summary: "Replace a webhook's secret, which also signs for a while, or the key with which its events are read",
    params,
    body: secretRegeneration,
    answers: { 200: webhookWithKey, ...noSuchWebhook },
    handler: async (input) => {
      const { params, body } = input;
      await admit(input);
      const webhook = await transaction(async (run) => {
        const changed = await withNewKey(
          run,
          await regenerateSecret(run, params.id, newSecret(), body.overlap_seconds),
        );
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
    access,
    scope: 'webhooks:read',
    summary: `Get whether a webhook${whose} is paused or failing, and its pending deliveries`,
    params,
    answers: { 200: webhookStatusJson, ...noSuchWebhook },
    handler: async (input) => {
      await admit(input);
      return ok(await getWebhookStatus(query, input.params.id));
    },
  }),
];
