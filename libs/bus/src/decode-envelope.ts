import type { Query } from '@recordbus/database';
import { type EventEnvelope, envelope } from './envelope.ts';

/** An envelope read from the stream. */
export interface DecodedEnvelope {
  readonly envelope: EventEnvelope;
  /** The original text. Code that forwards an event cuts its parts from this text, which keeps every digit. */
  readonly text: string;
}

/** Decodes a message's bytes. Throws for one that is not an event. */
export const decodeEnvelope = (bytes: Uint8Array): DecodedEnvelope =>
  decodeText(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));

/** Decodes a message's bytes; undefined for one that is not an event. */
export function findEnvelope(bytes: Uint8Array): DecodedEnvelope | undefined {
  try {
    return decodeEnvelope(bytes);
  } catch {
    return undefined;
  }
}

/**
 * Replaces references by the whole envelopes, in the same order, with one statement, or none if there are no
 * references. An envelope that is no longer stored stays a reference, without its data. Throws when the database does
 * not answer.
 */
export async function completeEnvelopes(
  query: Query,
  decoded: readonly DecodedEnvelope[],
): Promise<readonly DecodedEnvelope[]> {
  const ids = decoded.flatMap(({ envelope }) => (envelope.reference ? [envelope.id] : []));
  if (ids.length === 0) return decoded;
  const rows = await query<{ id: string; body: string }>({
    text: 'select id, body from system.large_events where id = any($1::uuid[])',
    values: [ids],
  });
  const whole = new Map(rows.map(({ id, body }) => [id, body]));
  return decoded.map((one) => {
    const text = one.envelope.reference && whole.get(one.envelope.id);
    return text === undefined ? one : decodeText(text);
  });
}

const decodeText = (text: string): DecodedEnvelope => ({ envelope: envelope.parse(JSON.parse(text)), text });
