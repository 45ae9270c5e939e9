import { unexpectedAnswer } from '../error.ts';
import type { Transport } from '../transport.ts';
import { apiPath, type Query, withQuery } from '../url.ts';
import { openSocket, socketClass } from './socket.ts';
import { readEvents, type StreamEvent } from './stream.ts';

/** A subscription as it is sent (realtime §2.1). */
export interface SentSubscription {
  readonly id: string;
  readonly [member: string]: unknown;
}

/** Changes an open connection's subscriptions. */
export interface SubscriptionChanges {
  /** Adds a subscription. It is accepted when a `ready` names it. */
  add(subscription: SentSubscription): void;
  remove(id: string): void;
}

/** An open connection. */
export interface OpenConnection {
  readonly events: AsyncIterable<StreamEvent>;
  /** Undefined for a connection whose subscriptions cannot change. */
  readonly subscriptions?: SubscriptionChanges;
  /** Continues with a new token for the same account, if the connection can. */
  renew(token: string | undefined): void;
}

/** Opens the connection of a client for these subscriptions, with a query that rules may read. The signal ends it. */
export async function openConnection(
  transport: Transport,
  query: Query,
  subscriptions: readonly SentSubscription[],
  signal: AbortSignal,
  end: () => void,
): Promise<OpenConnection> {
  const path = apiPath('realtime');
  const Socket = transport.live.over === 'websocket' ? socketClass() : undefined;
  const token = Socket && (await transport.keepFresh());
  signal.throwIfAborted();
  // A WebSocket takes only session tokens. A service key needs a request header.
  if (Socket && !token?.startsWith('rbk_'))
    return openSocket(Socket, { url: transport.baseUrl + withQuery(path, query), token }, subscriptions, signal);
  const headers = { Accept: 'text/event-stream' };
  const response = await transport.open({ method: 'POST', path, query, values: { subscriptions }, headers, signal });
  // The page of a proxy, for example.
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) throw unexpectedAnswer(response.status);
  return { events: readEvents(response, end), renew() {} };
}
