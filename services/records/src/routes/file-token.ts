import { ok, type Route, route } from '@recordbus/shared/http';
import { z } from 'zod';
import { askingAs } from '../files/find-file.ts';
import type { RouteDeps } from './route-deps.ts';

const required = z.string('is required').min(1, 'is required');

/** `POST /api/v1/files/token`. */
export const fileTokenRoute = (deps: RouteDeps): Route =>
  route({
    method: 'POST',
    path: ['/api/v1/files/token', '/api/files/token'],
    access: 'public',
    action: 'view',
    summary: 'Make a token that opens a protected file',
    body: z.object({ collection: required, id: required, filename: required }),
    answers: {
      200: z.object({ token: z.string(), expires_at: z.int() }),
      401: 'only those who are signed in may have the file',
      403: 'the view rule refuses',
      404: 'no such file',
    },
    handler: ({ body, context, queryText, header }) => {
      const { principal } = context;
      return deps.collections.serve({ collection: body.collection, action: 'view', principal }, async (collection) => {
        const file = { recordId: body.id, filename: body.filename };
        const asking = askingAs(principal, deps.schema, { query: queryText, header });
        const found = await deps.downloads.find(collection, file, asking);
        const { token, expiresAtSec } = await deps.downloads.tokens.mint(collection, file, found, context);
        return ok({ token, expires_at: expiresAtSec });
      });
    },
  });
