import type { OpenConnection, SentSubscription, SubscriptionChanges } from './connection.ts';
import { createEventQueue } from './event-queue.ts';
import type { StreamEvent } from './stream.ts';

/** The parts of `WebSocket` that the client uses. */
interface Socket {
  onopen: (() => void) | null;
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  onclose: (() => void) | null;
  onerror: (() => void) | null;
  send(text: string): void;
  close(): void;
}

type SocketClass = new (url: string, protocol: string) => Socket;

/** The platform's `WebSocket`; Node has one since 22. */
export const socketClass = (): SocketClass | undefined =>
  Reflect.get(globalThis, 'WebSocket') as unknown as SocketClass | undefined;

/** Opens a WebSocket with these subscriptions (realtime §1.3). A token goes into a message, never into the URL. */
export function openSocket(
  Class: SocketClass,
  { url, token: first }: { readonly url: string; readonly token: string | undefined },
  given: readonly SentSubscription[],
  signal: AbortSignal,
): OpenConnection {
  let [token, unanswered] = [first, 0];
  const socket = new Class(url.replace(/^http/, 'ws'), 'recordbus.v1');
  const queue = createEventQueue();
  const say = (message: object): void => socket.send(JSON.stringify(message));
  const subscriptions = createSubscriptions(given, say);
  let cursor: string | undefined;

  function authenticate(): void {
    unanswered += 1;
    say({ type: 'auth', token });
  }

  function take({ type, data = {} }: { readonly type: string; readonly data?: StreamEvent['data'] }): void {
    if (type === 'ready' || type === 'heartbeat') cursor = (data.cursor as string | undefined) ?? cursor;
    if (type === 'authenticated') {
      unanswered -= 1;
      // The token comes first, since its rights decide about the subscriptions.
      subscriptions.begin();
    } else if (type === 'pong') {
      const subs = subscriptions.checked();
      // Without a `ready`, all were refused.
      if (cursor !== undefined) queue.push({ type: 'ready', id: undefined, data: { cursor, subs } });
    } else if (type === 'error' && data.sub === undefined) {
      // An error that is not about a token is about a subscription that has already ended.
      if (unanswered > 0) socket.close();
    } else if (type !== 'ready' && type !== 'unsubscribed')
      queue.push({ type, id: type === 'heartbeat' ? (data.cursor as string | undefined) : undefined, data });
  }

  socket.onopen = () => (token === undefined ? subscriptions.begin() : authenticate());
  socket.onmessage = ({ data }) => {
    take(JSON.parse(String(data)));
    queue.wake();
  };
  socket.onclose = queue.end;
  socket.onerror = () => socket.close();
  signal.addEventListener('abort', () => socket.close(), { once: true });

  return {
    events: queue.read(() => socket.close()),
    subscriptions,
    renew(next) {
      if (next === undefined || next === token) return;
      token = next;
      authenticate();
    },
  };
}

/** A WebSocket's subscriptions. */
interface Subscriptions extends SubscriptionChanges {
  /** Sends the subscriptions that waited for the connection and its token. */
  begin(): void;
  /** The ids that the next answer to a `ping` confirms. */
  checked(): readonly string[];
}

function createSubscriptions(given: readonly SentSubscription[], say: (message: object) => void): Subscriptions {
  const waiting = new Map(given.map((one) => [one.id, one]));
  /** For each unanswered `ping`, the subscriptions that were sent before it. */
  const pings: string[][] = [];
  let [hasBegun, unchecked]: [boolean, string[]] = [false, []];

  /**
   * Sends a `ping`. The server handles messages in order, so its answer means that the subscriptions before it are
   * checked.
   */
  function ping(): void {
    pings.push(unchecked);
    unchecked = [];
    say({ type: 'ping' });
  }

  function send(subscription: SentSubscription): void {
    // One `ping` checks all subscriptions that are added in one turn.
    if (unchecked.length === 0) queueMicrotask(ping);
    unchecked.push(subscription.id);
    say({ type: 'subscribe', ...subscription });
  }

  return {
    begin() {
      if (hasBegun) return;
      hasBegun = true;
      for (const subscription of waiting.values()) send(subscription);
      waiting.clear();
    },
    checked: () => pings.shift() ?? [],
    add(subscription) {
      if (hasBegun) send(subscription);
      else waiting.set(subscription.id, subscription);
    },
    remove(id) {
      if (hasBegun) say({ type: 'unsubscribe', id });
      else waiting.delete(id);
    },
  };
}
