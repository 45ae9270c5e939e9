import { apiPath } from '../url.ts';
import type { OpenConnection } from './connection.ts';
import { longestSilenceMs, type StreamEvent } from './stream.ts';

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

/** The `WebSocket` of the platform; Node has one since 22. */
export const socketClass = (): SocketClass | undefined =>
  Reflect.get(globalThis, 'WebSocket') as unknown as SocketClass | undefined;

/** Opens a WebSocket with these subscriptions (realtime §1.3). A token goes into a message, never into the address. */
export function openSocket(
  Class: SocketClass,
  { baseUrl, token: first }: { readonly baseUrl: string; readonly token: string | undefined },
  subscriptions: readonly object[],
  signal: AbortSignal,
): OpenConnection {
  let token = first;
  const socket = new Class(`${baseUrl.replace(/^http/, 'ws')}${apiPath('realtime')}`, 'recordbus.v1');
  const waiting: StreamEvent[] = [];
  let [isOpen, hasBegun, wake] = [true, false, () => {}];
  let ready: StreamEvent['data'] | undefined;
  const say = (message: object): void => socket.send(JSON.stringify(message));
  const authenticate = (): void => say({ type: 'auth', token });
  function subscribe(): void {
    hasBegun = true;
    for (const one of subscriptions) say({ type: 'subscribe', ...one });
    // Messages are done in their order: with the answer to this one every subscription is checked.
    say({ type: 'ping' });
  }
  function take({ type, data = {} }: { readonly type: string; readonly data?: StreamEvent['data'] }): void {
    if (type === 'authenticated') {
      // What is followed is subject to the rights of the token: it comes first.
      if (!hasBegun) subscribe();
    } else if (type === 'ready') ready = data;
    else if (type === 'pong') {
      if (ready) waiting.push({ type: 'ready', id: undefined, data: ready });
      // An error of no subscription is one of the token.
    } else if (type === 'error' && data.sub === undefined) socket.close();
    else waiting.push({ type, id: type === 'heartbeat' ? (data.cursor as string | undefined) : undefined, data });
  }
  socket.onopen = () => (token === undefined ? subscribe() : authenticate());
  socket.onmessage = ({ data }) => {
    take(JSON.parse(String(data)));
    wake();
  };
  socket.onclose = () => {
    isOpen = false;
    wake();
  };
  socket.onerror = () => socket.close();
  signal.addEventListener('abort', () => socket.close(), { once: true });

  async function* read(): AsyncGenerator<StreamEvent, void> {
    for (;;) {
      const event = waiting.shift();
      if (event) yield event;
      else if (!isOpen) return;
      else {
        const timer = setTimeout(() => socket.close(), longestSilenceMs);
        await new Promise<void>((resolve) => {
          wake = resolve;
        }).finally(() => clearTimeout(timer));
      }
    }
  }

  return {
    events: read(),
    renew(next) {
      if (next === undefined || next === token) return;
      token = next;
      authenticate();
    },
  };
}
