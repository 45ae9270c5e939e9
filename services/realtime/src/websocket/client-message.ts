import { malformed } from '@recordbus/errors';
import { describeIssues } from '@recordbus/errors/describe-issues';
import { z } from 'zod';

const id = z.string().min(1).max(100);

/** A client's messages on a WebSocket (realtime §1.3). */
const clientMessage = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('subscribe') }),
  z.strictObject({ type: z.literal('unsubscribe'), id }),
  z.strictObject({ type: z.literal('auth'), token: z.string() }),
  z.strictObject({ type: z.literal('ping') }),
]);

export type ClientMessage = z.output<typeof clientMessage>;

/** Reads a text message. Throws 400 for a text that is not JSON or not a message. */
export function readClientMessage(text: string): ClientMessage {
  const given = parse(text);
  const read = clientMessage.safeParse(given);
  if (read.success) return read.data;
  const details = describeIssues(read.error, given);
  const [name, message] = Object.entries(details)[0] ?? ['message', 'not valid'];
  throw malformed(`${name}: ${message}`, details);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw malformed('the message is not JSON');
  }
}
