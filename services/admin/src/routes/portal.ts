import type { Database } from '@recordbus/database';
import { readCustomEvents } from '@recordbus/extension-host/custom-events';
import { created, ok, type Route, route } from '@recordbus/http';
import { boundedText } from '@recordbus/text/bounded-text';
import { z } from 'zod';
import { auditWebhook } from '../webhooks/audit-webhook.ts';
import { catalogueEvent, customCatalogue, eventCatalogue, productCatalogue } from '../webhooks/event-catalogue.ts';
import { findGivenOwner, type OwnerAccessDeps, requireManager, requireOwner } from '../webhooks/owner-access.ts';
import { createPortalLink, newPortalLink, openedPortal, openPortalLink } from '../webhooks/portal-links.ts';

interface PortalRoutesDeps {
  readonly database: Database;
  readonly owners: Omit<OwnerAccessDeps, 'query'>;
}

/** Links to the page where an owner manages its webhooks (webhooks §10). */
export const portalRoutes = ({ database: { query, transaction }, owners }: PortalRoutesDeps): Route[] => [
  route({
    method: 'POST',
    idempotent: true,
    path: '/api/v1/admin/webhooks/portal',
    access: 'admin',
    scope: 'webhooks:write',
    summary: "Create a link to one owner's webhooks, for one use",
    body: newPortalLink,
    answers: {
      201: z.object({
        path: z.string().describe('below the address of the stack; the token is in the fragment'),
        expires_at: z.number().describe('unix seconds'),
      }),
      404: 'There is no such owner.',
    },
    handler: async (input) => {
      const { body } = input;
      const owner = findGivenOwner(owners, body.owner);
      const link = await transaction(async (run) => {
        await requireOwner(run, owner);
        const made = await createPortalLink(run, owner, body);
        await auditWebhook(run, input, 'webhooks.portal', owner.id, { collection: owner.collection.name });
        return made;
      });
      return created({ path: `/_/portal#${link.token}`, expires_at: link.expiresAtSec });
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/webhooks/events',
    access: 'public',
    scope: 'webhooks:read',
    summary: 'List the events that webhooks may get, with JSON Schemas; with `owner`, those of its webhooks',
    answers: { 200: z.array(catalogueEvent), 404: 'There is no such owner.' },
    async handler(input) {
      const { principal } = input.context;
      const isWhole =
        input.queryText('owner') === undefined && (principal.type === 'admin' || principal.type === 'service');
      const owner = isWhole ? undefined : await requireManager({ query, ...owners }, input);
      const ofRecords = eventCatalogue(owners.collections.all(), owner);
      // They go to no owner.
      const others = isWhole
        ? [...customCatalogue(await readCustomEvents(query), ofRecords), ...productCatalogue()]
        : [];
      return ok([...ofRecords, ...others]);
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/webhooks/portal',
    access: 'public',
    scope: 'none',
    action: 'auth',
    summary: 'Open a portal link, once',
    body: z.strictObject({ token: boundedText(200) }),
    answers: { 200: openedPortal, 401: 'The link was used, has expired or never existed.' },
    handler: async ({ body }) => ok(await openPortalLink(query, body.token)),
  }),
];
