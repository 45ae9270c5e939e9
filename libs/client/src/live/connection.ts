import type { Transport } from '../transport.ts';
import { apiPath } from '../url.ts';
import { openSocket, socketClass } from './socket.ts';
import { readEvents, type StreamEvent } from './stream.ts';

/** A subscription as it is sent (realtime §2.1). */
export interface SentSubscription {
  readonly id: string;
  readonly [member: string]: unknown;
}

/** Changes what an open connection follows. */
export interface SubscriptionChanges {
  /** Adds a subscription. A `ready` that names it says that it is checked. */
  add(subscription: SentSubscription): void;
  remove(id: string): void;
}

/** An open connection. */
export interface OpenConnection {
  readonly events: AsyncIterable<StreamEvent>;
  /** Undefined where a connection follows only what it began with. */
  readonly subscriptions?: SubscriptionChanges;
  /** Goes on with a new token of the same account, where the connection can. */
  renew(token: string | undefined): void;
}

/** Opens the connection of a client for these subscriptions. The signal ends it. */
export async function openConnection(
  transport: Transport,
  subscriptions: readonly SentSubscription[],
  signal: AbortSignal,
  end: () => void,
): Promise<OpenConnection> {
  const Socket = transport.live.over === 'websocket' ? socketClass() : undefined;
  const token = Socket && (await transport.keepFresh());
  signal.throwIfAborted();
  // A service key is for the header of a request: a WebSocket takes the tokens of sessions.
  if (Socket && !token?.startsWith('rbk_'))
    return openSocket(Socket, { baseUrl: transport.baseUrl, token }, subscriptions, signal);
  const headers = { Accept: 'text/event-stream' };
  const path = apiPath('realtime');
  const response = await transport.open({ method: 'POST', path, values: { subscriptions }, headers, signal });
  return { events: readEvents(response, end), renew() {} };
}
