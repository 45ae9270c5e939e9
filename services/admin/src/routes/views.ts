import type { Database } from '@recordbus/database';
import { ok, type Route, route } from '@recordbus/http';
import { fieldJson } from '@recordbus/schema';
import { z } from 'zod';
import { previewView } from '../views/preview-view.ts';

/** The preview of a view (views §2.7). */
export const viewRoutes = ({ database }: { readonly database: Pick<Database, 'transaction'> }): Route[] => [
  route({
    method: 'POST',
    path: '/api/v1/admin/views/preview',
    access: 'admin',
    scope: 'collections:apply',
    summary: 'Get the fields and the first rows that a view with this query would have, without creating it',
    body: z.strictObject({ view_query: z.string('must be a string') }),
    answers: {
      200: z.object({
        fields: z.array(fieldJson),
        rows: z.array(z.record(z.string(), z.unknown())).describe('at most 20 rows; long values are cut'),
      }),
      422: 'a view cannot have the query, or it takes longer than 5 seconds',
    },
    handler: async ({ body }) => ok(await previewView(database, body.view_query)),
  }),
];
