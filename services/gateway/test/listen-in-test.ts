import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { type ListeningServer, listen } from '@recordbus/http';

/** How long the end of a test waits for requests, in milliseconds. Only a failed test leaves any. */
const endMs = 10_000;

/**
 * Listens on an address. Disposal cuts the requests that a failed test leaves: it would wait for them forever, and
 * nobody would learn why the test has failed.
 */
export async function listenInTest(
  app: RequestListener,
  options: Parameters<typeof listen>[1],
): Promise<ListeningServer & AsyncDisposable> {
  const sockets = new Set<Socket>();
  let isOver = false;
  const server = await listen((request, response) => {
    const { socket } = request;
    if (isOver) return void socket.destroy();
    if (!sockets.has(socket)) socket.once('close', () => sockets.delete(socket));
    sockets.add(socket);
    app(request, response);
  }, options);
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closed ??= server.close();
    return closed;
  };
  const cut = (): void => {
    isOver = true;
    for (const socket of sockets) socket.destroy();
  };
  return {
    ...server,
    close,
    async [Symbol.asyncDispose]() {
      const patience = setTimeout(cut, endMs);
      await close().finally(() => clearTimeout(patience));
    },
  };
}
