import type { JsMsg } from '@nats-io/jetstream';
import { signedInEvent, signInFlow } from '@recordbus/accounts';
import { envelope } from '@recordbus/bus';
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
  client_address: z.string(),
  user_agent: z.string().nullable(),
});

/** Reads a message as the event of a sign-in; undefined for any other. */
export function readSignIn(message: JsMsg): SignIn | undefined {
  const found = envelope.safeParse(parse(message.string()));
  if (!found.success || found.data.event !== signedInEvent) return undefined;
  const data = signedIn.safeParse(found.data.data);
  if (!data.success) return undefined;
  const { flow, collection, user_id, email, client_address, user_agent } = data.data;
  return {
    id: found.data.id,
    flow,
    collection,
    email: email ?? undefined,
    clientAddress: client_address,
    userAgent: user_agent ?? undefined,
    requestId: found.data.request_id ?? found.data.id,
    userId: user_id,
  };
}

/**
 * Reads a message as the event of a record, whole also where the message only refers to it; undefined for what is none,
 * as custom events are. Throws when the database does not answer.
 */
export async function readRecordEvent(message: JsMsg, query: Query): Promise<RecordEvent | undefined> {
  const found = envelope.safeParse(parse(message.string()));
  if (!found.success || found.data.collection === undefined) return undefined;
  const whole = found.data.reference ? await findWhole(query, found.data.id) : found.data;
  const data = change.safeParse(whole?.data);
  const verb = operation.safeParse(found.data.event.split('.')[1]);
  if (!data.success || !verb.success) return undefined;
  const { id, event, collection, actor, request_id, timestamp } = found.data;
  return {
    id,
    event,
    operation: verb.data,
    collection,
    record: data.data.record,
    previous: data.data.previous,
    changed: data.data.changed,
    actor,
    requestId: request_id,
    timestamp,
  };
}

async function findWhole(query: Query, id: string) {
  const [row] = await query<{ body: string }>({
    text: 'select body from system.large_events where id = $1::uuid',
    values: [id],
  });
  return row && envelope.parse(parse(row.body));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
