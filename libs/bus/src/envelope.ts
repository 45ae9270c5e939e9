import { z } from 'zod';

/** The body of every message on the event stream (events §2.3): `data` is the state when the event happened. */
export const envelope = z.object({
  id: z.uuid(),
  event: z.string().min(1),
  /** Unix seconds. */
  timestamp: z.number(),
  collection: z.string().optional(),
  /** The record's version after the write: the text within its ETag. A delete is a version too. */
  version: z.string().optional(),
  /** The shape that the collection's records had at the write (`shapeOf` in @recordbus/schema). */
  schema: z.string().optional(),
  data: z.unknown(),
  actor: z.object({ type: z.string(), id: z.string().nullable() }),
  request_id: z.string().nullable(),
  /** The write's place in its batch; only for writes in a batch. A write that an operation causes has its index. */
  batch: z.object({ id: z.uuid(), index: z.int(), size: z.int() }).optional(),
  /**
   * Set only when the event is too large for a message: then `data` is null, and `system.large_events` holds the whole
   * envelope under the event's id for as long as the stream keeps the message.
   */
  reference: z.object({ type: z.literal('large_event'), id: z.uuid(), bytes: z.number() }).optional(),
});

export type EventEnvelope = z.output<typeof envelope>;

/** The SQL expressions of an envelope's parts, within the statement that writes the record. */
export interface EnvelopeExpressions {
  /** uuid or text */
  readonly id: string;
  readonly event: string;
  /** Unix seconds, any numeric type */
  readonly timestamp: string;
  /** Undefined for events that belong to no collection. */
  readonly collection?: string;
  /** Undefined for events that belong to no record. */
  readonly version?: string;
  /** Undefined for events that belong to no record. */
  readonly schema?: string;
  /** json or jsonb; its text is published unchanged */
  readonly data: string;
  readonly actorType: string;
  readonly actorId: string;
  readonly requestId: string;
  /** JSON text, null for a write outside a batch. Undefined for events that are never part of one. */
  readonly batch?: string;
}

/**
 * Returns the SQL expression (type text) that builds an envelope within the statement that writes, so that `data` never
 * passes through JavaScript, where large numbers lose digits.
 */
export function envelopeSql(parts: EnvelopeExpressions): string {
  const members = [
    `'{"id":' || ${jsonText(parts.id)}`,
    `',"event":' || ${jsonText(parts.event)}`,
    `',"timestamp":' || (${parts.timestamp})::bigint::text`,
    ...(parts.collection ? [`',"collection":' || ${jsonText(parts.collection)}`] : []),
    ...(parts.version ? [`',"version":' || ${jsonText(parts.version)}`] : []),
    ...(parts.schema ? [`',"schema":' || ${jsonText(parts.schema)}`] : []),
    `',"data":' || coalesce((${parts.data})::text, 'null')`,
    `',"actor":{"type":' || ${jsonText(parts.actorType)}`,
    `',"id":' || ${jsonText(parts.actorId)}`,
    `'},"request_id":' || ${jsonText(parts.requestId)}`,
    ...(parts.batch ? [`coalesce(',"batch":' || ${parts.batch}, '')`] : []),
  ];
  return `(${members.join(' || ')} || '}')`;
}

const jsonText = (expression: string) => `coalesce(to_json((${expression})::text)::text, 'null')`;
