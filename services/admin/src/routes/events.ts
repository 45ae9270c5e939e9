import type { Database } from '@recordbus/database';
import { ok, type Route, rawJson, route, spanOf, spanQuery, wholeBody } from '@recordbus/http';
import { loadCollections } from '@recordbus/schema';
import { z } from 'zod';
import { eventSchemas } from '../events/event-schemas.ts';
import { deliverySummaryJson, summarizeDeliveries } from '../webhooks/delivery-summary.ts';
import { eventDetailsJson, eventJson, eventsQuery } from '../webhooks/event-schema.ts';
import { getEvent, listEvents } from '../webhooks/event-store.ts';

const jsonSchema = z.record(z.string(), z.unknown()).describe('a JSON Schema, draft 2020-12');

/** Schemas for the events on the bus (events §2.7), and the stored events with their deliveries (webhooks §8). */
export const eventRoutes = ({ database }: { readonly database: Database }): Route[] => [
  route({
    method: 'GET',
    path: '/api/v1/admin/events/schema',
    access: 'admin',
    scope: 'collections:read',
    summary: "Get JSON Schemas for the bus messages, and for each collection's records in them",
    answers: {
      200: z.object({ version: z.literal(1), envelope: jsonSchema, records: z.record(z.string(), jsonSchema) }),
    },
    handler: async () => ok(eventSchemas((await loadCollections(database.read)).collections)),
  }),
  route({
    method: 'GET',
    path: '/api/v1/admin/events',
    access: 'admin',
    scope: 'webhooks:read',
    summary: 'List the events that webhooks received, newest first, with their deliveries',
    query: eventsQuery,
    answers: {
      200: wholeBody(
        z.object({
          data: z.array(eventJson),
          perPage: z.int(),
          next: z.string().nullable().describe("the next page's cursor; null at the end"),
        }),
      ),
    },
    handler: async ({ query }) => rawJson(200, await listEvents(database.query, query)),
  }),
  route({
    method: 'GET',
    path: '/api/v1/admin/events/:id',
    access: 'admin',
    scope: 'webhooks:read',
    summary: 'Get an event with its body, and its deliveries with their attempts',
    params: z.object({ id: z.string() }),
    answers: { 200: eventDetailsJson, 404: 'There is no such event.' },
    handler: async ({ params }) => rawJson(200, await getEvent(database.query, params.id)),
  }),
  route({
    method: 'GET',
    path: '/api/v1/admin/deliveries/summary',
    access: 'admin',
    scope: 'webhooks:read',
    summary: 'Count the deliveries in a time range by status, over time and by webhook',
    query: spanQuery,
    answers: { 200: deliverySummaryJson },
    handler: async ({ query }) => ok(await summarizeDeliveries(database.query, spanOf(query))),
  }),
];
