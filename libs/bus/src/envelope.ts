import { z } from 'zod';

/** The body of every message on the event stream (contract §6). Consumers get `data` as it was when it happened. */
export const envelope = z.object({
  id: z.uuid(),
  event: z.string().min(1),
  /** Unix seconds. */
  timestamp: z.number(),
  collection: z.string().optional(),
  data: z.unknown(),
  actor: z.object({ type: z.string(), id: z.string().nullable() }),
  request_id: z.string().nullable(),
  /**
   * Only in the message of an event that is larger than the server's limit: `data` is null, and the whole envelope
   * stays in `system.large_events` under the event's id for as long as the stream keeps the message.
   */
  reference: z.object({ type: z.literal('large_event'), id: z.uuid(), bytes: z.number() }).optional(),
});

export type Envelope = z.output<typeof envelope>;

/** SQL expressions of an envelope's parts, as they stand in the statement that writes the record. */
export interface EnvelopeExpressions {
  /** uuid or text */
  readonly id: string;
  readonly event: string;
  /** Unix seconds, any numeric type */
  readonly timestamp: string;
  /** Left out for events that belong to no collection. */
  readonly collection?: string;
  /** json or jsonb; its text goes on the bus unchanged */
  readonly data: string;
  readonly actorType: string;
  readonly actorId: string;
  readonly requestId: string;
}

/**
 * The SQL expression (type text) that builds an envelope inside the statement that writes, so that `data` never
 * passes through JavaScript, where large numbers lose digits.
 */
export function envelopeSql(parts: EnvelopeExpressions): string {
  const members = [
    `'{"id":' || ${jsonText(parts.id)}`,
    `',"event":' || ${jsonText(parts.event)}`,
    `',"timestamp":' || (${parts.timestamp})::bigint::text`,
    ...(parts.collection ? [`',"collection":' || ${jsonText(parts.collection)}`] : []),
    `',"data":' || coalesce((${parts.data})::text, 'null')`,
    `',"actor":{"type":' || ${jsonText(parts.actorType)}`,
    `',"id":' || ${jsonText(parts.actorId)}`,
    `'},"request_id":' || ${jsonText(parts.requestId)}`,
  ];
  return `(${members.join(' || ')} || '}')`;
}

const jsonText = (expression: string) => `coalesce(to_json((${expression})::text)::text, 'null')`;
