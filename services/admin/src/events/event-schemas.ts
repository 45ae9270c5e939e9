import { envelope } from '@recordbus/bus';
import type { Collection } from '@recordbus/schema';
import type { JsonSchema } from '@recordbus/shared/http';
import { z } from 'zod';
import { eventRecordSchema } from './event-record-schema.ts';

/** JSON Schemas of the messages on the bus (events §2.7). */
export interface EventSchemas {
  /** Header `Service-Event-Version` of the described messages. */
  readonly version: 1;
  /** The body of every message. Webhooks get its `id`, `event`, `timestamp`, `version`, `batch` and `data`. */
  readonly envelope: JsonSchema;
  /** `data.record`, and `data.previous` of an update, by the name of the collection. */
  readonly records: Readonly<Record<string, JsonSchema>>;
}

/** Describes the envelope and the records of the collections. Views have no events. */
export const eventSchemas = (collections: readonly Collection[]): EventSchemas => ({
  version: 1,
  envelope: z.toJSONSchema(envelope, { io: 'output' }),
  records: Object.fromEntries(
    collections
      .filter(({ type }) => type !== 'view')
      .map((collection) => [collection.name, eventRecordSchema(collection)]),
  ),
});
