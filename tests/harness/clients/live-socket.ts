import WebSocket from 'ws';
import { eventually } from '../eventually.ts';
import type { JsonObject } from '../json.ts';

/** A live connection over a WebSocket. */
export interface LiveSocket extends AsyncDisposable {
  readonly messages: readonly { readonly type: string; readonly data: JsonObject }[];
  /** Its close code and reason. */
  readonly closed: { readonly code: number; readonly reason: string } | undefined;
  readonly protocol: string;
  send(message: unknown): void;
  sendRaw(data: string | Uint8Array): void;
  arrived(type: string, count?: number): Promise<readonly { readonly data: JsonObject }[]>;
  close(): void;
}

interface SocketOptions {
  readonly token?: string | undefined;
  readonly query?: string;
  readonly protocols?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** Opens a WebSocket; rejects with a refusal's status. */
export async function openSocket(
  url: string,
  { token, query = '', protocols = ['recordbus.v1'], headers = {} }: SocketOptions = {},
): Promise<LiveSocket> {
  const target = `${url.replace(/^http/, 'ws')}/api/v1/realtime${query}`;
  const socket = new WebSocket(target, [...protocols], {
    headers: { ...headers, ...(token !== undefined && { Authorization: `Bearer ${token}` }) },
  });
  const messages: { type: string; data: JsonObject }[] = [];
  let closed: LiveSocket['closed'];
  socket.on('message', (data) => messages.push(JSON.parse(String(data))));
  socket.on('close', (code, reason) => {
    closed = { code, reason: String(reason) };
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('unexpected-response', (_request, answer) => reject(new Error(`refused with ${answer.statusCode}`)));
    socket.once('error', reject);
  });
  return {
    messages,
    get closed() {
      return closed;
    },
    protocol: socket.protocol,
    send: (message) => socket.send(JSON.stringify(message)),
    sendRaw: (data) => socket.send(data),
    arrived: (type, count = 1) =>
      eventually(`${count} messages ${type}`, () => {
        const found = messages.filter((message) => message.type === type);
        return found.length >= count ? found : undefined;
      }),
    close: () => socket.close(),
    async [Symbol.asyncDispose]() {
      socket.terminate();
      await eventually('the socket is closed', () => closed !== undefined);
    },
  };
}
