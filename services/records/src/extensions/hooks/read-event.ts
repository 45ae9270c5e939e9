import { signedInEvent, signInFlow } from '@recordbus/accounts';
import { completeEnvelopes, type EventMessage, findEnvelope } from '@recordbus/bus';
import type { Query } from '@recordbus/database';
import type { RecordEvent, SignIn } from '@recordbus/extensions';
import { z } from 'zod';

const record = z.record(z.string(), z.unknown());
const change = z.object({ record, previous: record.optional(), changed: z.array(z.string()).optional() });
const operation = z.enum(['create', 'update', 'delete']);

const signedIn = z.object({
  flow: signInFlow,
  collection: z.string(),
  user_id: z.string(),
  email: z.string().nullable(),
  // An earlier release's event has none.
  identity: z.string().nullish(),
  client_address: z.string(),
  user_agent: z.string().nullable(),
});

/** Reads a message as a sign-in event; undefined for any other. */
export function readSignIn(message: EventMessage): SignIn | undefined {
  const found = findEnvelope(message.data)?.envelope;
  if (found?.event !== signedInEvent) return undefined;
  const data = signedIn.safeParse(found.data);
  if (!data.success) return undefined;
  const { flow, collection, user_id, email, identity, client_address, user_agent } = data.data;
  return {
    id: found.id,
    flow,
    collection,
    email: email ?? undefined,
    identity: identity ?? undefined,
    clientAddress: client_address,
    userAgent: user_agent ?? undefined,
    requestId: found.request_id ?? found.id,
    userId: user_id,
  };
}

/**
 * Reads a message as a record's event; undefined for others, such as custom events. Fetches a large event that the
 * message only refers to. Throws when the database fails.
 */
export async function readRecordEvent(message: EventMessage, query: Query): Promise<RecordEvent | undefined> {
  const found = findEnvelope(message.data);
  if (found?.envelope.collection === undefined) return undefined;
  const [whole = found] = await completeEnvelopes(query, [found]);
  const { id, event, collection, version, actor, request_id, timestamp } = found.envelope;
  const data = change.safeParse(whole.envelope.data);
  const verb = operation.safeParse(event.split('.')[1]);
  if (!data.success || !verb.success || collection === undefined) return undefined;
  return {
    id,
    event,
    operation: verb.data,
    collection,
    record: data.data.record,
    previous: data.data.previous,
    changed: data.data.changed,
    // An earlier release's event, still in the stream, has no version.
    version: version ?? String(data.data.record.updated),
    actor,
    requestId: request_id,
    timestamp,
  };
}
