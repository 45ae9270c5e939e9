import type { Database } from '@recordbus/database';
import { exactText, page, pageOf, pageQuery, type Route, route, timeSec } from '@recordbus/http';
import { auditJson, listAudit } from '../audit/audit-log.ts';

/** The audit log (admins §6.1). */
export const auditRoutes = ({ database }: { readonly database: Database }): Route[] => [
  route({
    method: 'GET',
    path: '/api/v1/admin/audit',
    access: 'admin',
    scope: 'logs:read',
    summary: 'List audited actions, newest first',
    query: pageQuery.extend({
      action: exactText.describe('the exact action, or an area such as `webhooks.*`'),
      actor_id: exactText.describe("the actor's id"),
      target_id: exactText.describe("the target's id"),
      since: timeSec.describe('not before this, in unix seconds'),
      until: timeSec.describe('not after this, in unix seconds'),
    }),
    answers: { 200: pageOf(auditJson) },
    handler: async ({ query: wanted }) => {
      const { rows, totalItems } = await listAudit(database.query, wanted);
      return page(rows, { page: wanted.page, perPage: wanted.perPage, totalItems });
    },
  }),
];
