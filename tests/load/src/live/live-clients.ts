import { connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';

/** What the parent process commands. */
export type ClientCommand =
  | {
      readonly type: 'open';
      readonly host: string;
      readonly port: number;
      readonly subscription: string;
      /** One connection each; undefined for a guest. */
      readonly tokens: readonly (string | undefined)[];
      /** Cursor to resume from. */
      readonly after?: string | undefined;
      /** How long a refused connection is retried, in milliseconds. */
      readonly patienceMs?: number;
    }
  | { readonly type: 'report' }
  | { readonly type: 'close' };

/** What arrived: by record, when the first and the last message came (ms since the epoch), and how many. */
export interface ClientReport {
  readonly arrivals: ReadonlyMap<string, { first: number; last: number; count: number }>;
  readonly broken: number;
  /** The latest cursor. */
  readonly cursor: string;
}

// The process with the bench's ten thousand clients. It parses as little as possible, because it shares the machine
// with the product.

let sockets = new Set<Socket>();
let arrivals = new Map<string, { first: number; last: number; count: number }>();
let broken = 0;
let cursor = '';

const now = () => performance.timeOrigin + performance.now();
const opensAtOnce = 200;
const retryMs = 100;

type OpenCommand = Extract<ClientCommand, { type: 'open' }>;

process.on('message', async (command: ClientCommand) => {
  if (command.type === 'open') process.send?.(await open(command));
  else if (command.type === 'report') {
    process.send?.({ arrivals, broken, cursor } satisfies ClientReport);
    arrivals = new Map();
  } else {
    const open = sockets;
    sockets = new Set();
    for (const socket of open) socket.destroy();
    process.send?.('closed');
  }
});

async function open(command: OpenCommand): Promise<{ seconds: number; failures: number }> {
  const startedAtMs = now();
  let failures = 0;
  const waiting = command.tokens.values();
  const worker = async () => {
    for (const token of waiting) if (!(await openWithin(command, token))) failures += 1;
  };
  await Promise.all(Array.from({ length: opensAtOnce }, worker));
  return { seconds: (now() - startedAtMs) / 1000, failures };
}

/** Opens one connection. Retries while the product is unreachable. */
async function openWithin(command: OpenCommand, token: string | undefined): Promise<boolean> {
  const untilMs = performance.now() + (command.patienceMs ?? 0);
  while (!(await openOne(command, token))) {
    if (performance.now() >= untilMs) return false;
    await setTimeout(retryMs);
  }
  return true;
}

/** Opens one connection; resolves once it is ready. */
function openOne({ host, port, subscription, after }: OpenCommand, token: string | undefined): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    socket.setNoDelay();
    let head = '';
    let isReady = false;
    socket.on('connect', () =>
      socket.write(
        `GET /api/v1/realtime?subscribe=${encodeURIComponent(subscription)} HTTP/1.1\r\nHost: bench\r\n` +
          `${token === undefined ? '' : `Authorization: Bearer ${token}\r\n`}` +
          `${after === undefined ? '' : `Last-Event-ID: ${after}\r\n`}\r\n`,
      ),
    );
    socket.on('data', (bytes) => {
      const text = bytes.toString('latin1');
      if (!isReady) {
        head += text;
        if (!head.includes('event: ready')) {
          if (/^HTTP\/1\.1 [^2]/.test(head)) socket.destroy();
          return;
        }
        isReady = true;
        resolve(true);
        note(head);
        head = '';
      } else note(text);
    });
    socket.on('error', () => resolve(false));
    socket.on('close', () => {
      if (isReady && sockets.has(socket)) broken += 1;
      sockets.delete(socket);
      resolve(false);
    });
    sockets.add(socket);
  });
}

const created = /event: (create|enter)\nid: ([0-9-]+)\ndata: [^\n]*?"record":\{"id":"([^"]+)"/g;

function note(text: string): void {
  const at = now();
  for (const [, , id = '', record = ''] of text.matchAll(created)) {
    cursor = id;
    const arrival = arrivals.get(record) ?? { first: at, last: at, count: 0 };
    arrival.last = at;
    arrival.count += 1;
    arrivals.set(record, arrival);
  }
}

process.send?.('started');
