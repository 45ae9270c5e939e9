import { envelope } from '@recordbus/bus';
import type { JsonSchema } from '@recordbus/http';
import type { Collection } from '@recordbus/schema';
import { z } from 'zod';
import { eventRecordSchema } from './event-record-schema.ts';

/** JSON Schemas for the messages on the bus (events §2.7). */
export interface EventSchemas {
  /** The header `Service-Event-Version` on the described messages. */
  readonly version: 1;
  /** Every message's body. Webhooks get its `id`, `event`, `timestamp`, `version`, `batch` and `data`. */
  readonly envelope: JsonSchema;
  /** `data.record`, and an update's `data.previous`, by collection name. */
  readonly records: Readonly<Record<string, JsonSchema>>;
}

/** Describes the envelope and the collections' records. Views have no events. */
export const eventSchemas = (collections: readonly Collection[]): EventSchemas => ({
  version: 1,
  // As an input, it allows the members that later versions add.
  envelope: z.toJSONSchema(envelope, { io: 'input' }),
  records: Object.fromEntries(
    collections
      .filter(({ type }) => type !== 'view')
      .map((collection) => [collection.name, eventRecordSchema(collection)]),
  ),
});
