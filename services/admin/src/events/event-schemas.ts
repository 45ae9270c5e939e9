import { envelope } from '@recordbus/bus';
import type { Collection } from '@recordbus/schema';
import type { JsonSchema } from '@recordbus/shared/http';
import { z } from 'zod';
import { eventRecordSchema } from './event-record-schema.ts';

/** The bus contract as data (contract §6), for whoever builds on the events. */
export interface EventSchemas {
  /** Header `Service-Event-Version` of the messages that it describes. */
  readonly version: 1;
  /** The body of every message; webhooks are sent its `id`, `event`, `timestamp` and `data`. */
  readonly envelope: JsonSchema;
  /** `data.record` (and `data.previous` of an update) of a collection's events, by the collection's name. */
  readonly records: Readonly<Record<string, JsonSchema>>;
}

/** Describes the envelope and the records of these collections; views write nothing and have no events. */
export const eventSchemas = (collections: readonly Collection[]): EventSchemas => ({
  version: 1,
  envelope: z.toJSONSchema(envelope, { io: 'output' }),
  records: Object.fromEntries(
    collections
      .filter(({ type }) => type !== 'view')
      .map((collection) => [collection.name, eventRecordSchema(collection)]),
  ),
});
