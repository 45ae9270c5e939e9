import { connect, type Socket } from 'node:net';

/** What a server did with a client's bytes. */
export interface Outcome {
  /** Each answer's status, in order. */
  readonly statuses: readonly number[];
  readonly bytes: Buffer;
}

/** The longest wait for an answer or a connection's end, in milliseconds. */
const patienceMs = 60_000;

/** A status line at the beginning or after a body. The stack's bodies are JSON and files, which have none. */
const statusLine = /HTTP\/1\.1 (\d{3}) /g;

/**
 * How long a client waits for more before it ends the connection, in milliseconds: without and with an answer. Broken
 * requests get an answer only then. node:http sends none to a client that has ended its side.
 */
const [silenceMs, pauseMs] = [500, 50];

/** Sends bytes on their own connection, in these pieces. Resolves when it is closed, and rejects if it stays open. */
export function sendRaw(url: string, pieces: readonly Uint8Array[]): Promise<Outcome> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  const received: Buffer[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
  const timer = setTimeout(() => {
    reject(new Error(`no end after ${patienceMs} ms: ${Buffer.concat(received).toString('latin1').slice(0, 200)}`));
    socket.destroy();
  }, patienceMs);
  let quiet: NodeJS.Timeout | undefined;
  const waitForMore = (ms: number): void => {
    clearTimeout(quiet);
    quiet = setTimeout(() => socket.end(), ms);
  };
  // A server may reset a connection whose client still sends.
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    received.push(chunk);
    waitForMore(pauseMs);
  });
  socket.on('end', () => socket.end());
  socket.once('close', () => {
    clearTimeout(timer);
    clearTimeout(quiet);
    const bytes = Buffer.concat(received);
    resolve({
      statuses: [...bytes.toString('latin1').matchAll(statusLine)].map(([, status]) => Number(status)),
      bytes,
    });
  });
  void write(socket, pieces).then(() => waitForMore(silenceMs));
  return promise;
}

async function write(socket: Socket, pieces: readonly Uint8Array[]): Promise<void> {
  for (const piece of pieces) {
    if (socket.destroyed) return;
    await new Promise((resolve) => socket.write(piece, resolve));
  }
}
