import { malformed, malformedParameter } from '@recordbus/errors';
import { type Reply, type Route, type RouteInput, route } from '@recordbus/http';
import { createConnectionScope } from '@recordbus/request/request-scope';
import { z } from 'zod';
import { createSseTransport, sseHeaders } from '../connection/sse-transport.ts';
import { checkOpening, type OpeningRequest, openConnection, readableQuery } from '../open-connection.ts';
import type { RealtimeParts } from '../realtime-parts.ts';
import { type Cursor, readCursor } from '../stream/cursor.ts';
import {
  describedSubscriptions,
  maxSubscriptions,
  type ReadSubscription,
  readSubscription,
} from '../subscribe/subscription-request.ts';

const realtimePath = '/api/v1/realtime';

interface SubscribeDeps {
  readonly parts: RealtimeParts;
  readonly isDraining: () => boolean;
}

const answers = {
  200: { about: 'server-sent events', contentType: 'text/event-stream' },
  400: 'a subscription or a cursor cannot be read',
  403: 'every subscription is refused',
  404: 'no such collection',
  429: 'the account or the address has too many connections',
} as const;

type Input = Pick<
  RouteInput<unknown, Readonly<Record<string, unknown>>, unknown>,
  'context' | 'query' | 'header' | 'headerNames'
>;

/** `GET /api/v1/realtime`: subscriptions in the query, changes as server-sent events. Also the path for WebSockets. */
export const subscribeByQuery = (deps: SubscribeDeps): Route =>
  route({
    method: 'GET',
    path: realtimePath,
    access: 'public',
    scope: 'records',
    action: 'subscribe',
    staysOpen: true,
    summary: 'Follow changes: as server-sent events, or as a WebSocket with the subprotocol recordbus.v1',
    query: z.looseObject({
      subscribe: z.string().optional().describe('a subscription as JSON; may repeat'),
      ticket: z.string().optional().describe('a ticket in place of a token, for browsers'),
    }),
    requestHeaders: { 'Last-Event-ID': 'the cursor to resume from' },
    answers,
    handler: (input) => follow(deps, input, input.queryTexts('subscribe').map(parseText)),
  });

/** `POST /api/v1/realtime`: the same with subscriptions in the body. */
export const subscribeByBody = (deps: SubscribeDeps): Route =>
  route({
    method: 'POST',
    path: realtimePath,
    access: 'public',
    scope: 'records',
    action: 'subscribe',
    staysOpen: true,
    summary: 'Follow changes as server-sent events, with subscriptions in the body',
    body: z.strictObject({ subscriptions: z.array(z.unknown()) }),
    described: { body: describedSubscriptions },
    requestHeaders: { 'Last-Event-ID': 'the cursor to resume from' },
    answers,
    handler: (input) => follow(deps, input, input.body.subscriptions),
  });

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw malformedParameter('subscribe', 'is not JSON');
  }
}

/** Admits the subscriptions and answers with the stream. Refuses if none is admitted. */
async function follow({ parts, isDraining }: SubscribeDeps, input: Input, values: readonly unknown[]): Promise<Reply> {
  if (values.length === 0) throw malformed('there is no subscription', { subscribe: 'is required' });
  if (values.length > maxSubscriptions)
    throw malformed(`a connection has at most ${maxSubscriptions} subscriptions`, { subscribe: 'are too many' });
  const opening = openingOf(input);
  await checkOpening(parts, opening, isDraining());
  const resumeFrom = lastEventId(input);
  const wanted = values
    .map((value, place) => readSubscription(value, place + 1, resumeFrom))
    .map((one) => (opening.context.isTranslated ? withDeleted(one) : one));
  const caller = { ...opening.caller, principal: opening.context.principal };
  const admissions = await parts.subscriber.admit(wanted, caller);
  const refusals = admissions.flatMap((one) => ('refusal' in one ? [one.refusal] : []));
  if (refusals[0] && refusals.length === admissions.length) throw refusals[0];
  // Without clients the reader sleeps: it may have done so while the only client's subscriptions were admitted.
  await parts.changes.ready();
  return {
    status: 200,
    headers: sseHeaders,
    holdOpen(response) {
      const connection = openConnection(parts, opening, createSseTransport(response));
      const bound = createConnectionScope(() => response.destroy());
      response.once(
        'close',
        bound(() => connection.end('client')),
      );
      // The socket's errors end in `close`.
      response.on('error', () => {});
      void begin();
      async function begin(): Promise<void> {
        await parts.sessions.check(connection);
        await parts.subscriber.begin(connection, admissions, true);
      }
    },
  };
}

/** PocketBase's clients get the whole record when it is deleted. */
const withDeleted = (one: ReadSubscription): ReadSubscription =>
  'request' in one ? { ...one, request: { ...one.request, showsDeleted: true } } : one;

/** The cursor from a client that reconnects. Throws 400 for a text that is not a cursor. */
function lastEventId({ header }: Pick<Input, 'header'>): Cursor | undefined {
  const text = header('last-event-id');
  if (text === undefined || text === '') return undefined;
  const cursor = readCursor(text);
  if (!cursor) throw malformed('Last-Event-ID is not a cursor', { 'Last-Event-ID': 'is not a cursor' });
  return cursor;
}

/** Returns the request parts that rules may read. */
const openingOf = ({ context, query, header, headerNames }: Input): OpeningRequest => ({
  context,
  caller: {
    headers: Object.fromEntries(headerNames().map((name) => [name, header(name) ?? ''])),
    query: readableQuery(Object.entries(query)),
  },
});
