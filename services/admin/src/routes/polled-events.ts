import { type Route, rawJson, route, wholeBody } from '@recordbus/http';
import type { OwnersDeps } from '@recordbus/webhook-owners';
import { z } from 'zod';
import { keyHeader, polledPage, polledQuery, readPolled } from '../webhooks/polled-events.ts';

/** The events of webhooks that are read instead of called (webhooks §11). */
export const polledEventRoutes = (deps: OwnersDeps): Route[] => [
  route({
    method: 'GET',
    path: '/api/v1/webhooks/:id/events',
    access: 'public',
    scope: 'none',
    summary: "Read the events of a webhook with the type `poll`, by the webhook's key in `X-Webhook-Key`",
    params: z.object({ id: z.string() }),
    query: polledQuery,
    answers: { 200: wholeBody(polledPage), 401: 'The key opens no such webhook.' },
    handler: async ({ params: { id }, query, header }) =>
      rawJson(200, await readPolled(deps, { id, key: header(keyHeader) }, query)),
  }),
];
