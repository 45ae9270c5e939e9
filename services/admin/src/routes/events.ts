import type { Database } from '@recordbus/database';
import { loadCollections } from '@recordbus/schema';
import { ok, type Route, route } from '@recordbus/shared/http';
import { z } from 'zod';
import { eventSchemas } from '../events/event-schemas.ts';

const jsonSchema = z.record(z.string(), z.unknown()).describe('a JSON Schema, draft 2020-12');

/** Schemas of the events on the bus, for other systems (events §2.7). */
export const eventRoutes = ({ database }: { readonly database: Database }): Route[] => [
  route({
    method: 'GET',
    path: '/api/v1/admin/events/schema',
    access: 'admin',
    scope: 'collections:read',
    summary: 'Get JSON Schemas of the messages on the bus, and of the record of each collection in them',
    answers: {
      200: z.object({ version: z.literal(1), envelope: jsonSchema, records: z.record(z.string(), jsonSchema) }),
    },
    handler: async () => ok(eventSchemas((await loadCollections(database.read)).collections)),
  }),
];
