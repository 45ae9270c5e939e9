import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** Records the statements between a service and PostgreSQL. */
export interface StatementLog {
  /** The database's URL through the recorder. */
  through(url: string): string;
  /**
   * Returns the statements since the last call whose unit contains the name: the texts in each transaction, and in each
   * statement outside one, in the order in which they ended.
   */
  take(name: string): readonly (readonly string[])[];
  close(): Promise<void>;
}

/** Starts a recorder in front of the URL's server. */
export async function openStatementLog(serverUrl: string): Promise<StatementLog> {
  const target = new URL(serverUrl);
  const sockets = new Set<Socket>();
  let units: string[][] = [];
  const server = createServer((client) => {
    const upstream = connect({ host: target.hostname, port: Number(target.port || 5432) });
    const addStatement = createUnits((unit) => units.push(unit));
    const read = createMessageReader(addStatement);
    client.on('data', read);
    client.pipe(upstream).pipe(client);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the log of statements has no port');
  const { port } = address;

  return {
    through(url) {
      const changed = new URL(url);
      changed.hostname = '127.0.0.1';
      changed.port = String(port);
      return changed.href;
    },
    take(name) {
      const taken = units.filter((unit) => unit.some((text) => text.includes(name)));
      units = [];
      return taken;
    },
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}

/** Groups one connection's statements into units: a transaction, or a statement outside one. */
function createUnits(end: (unit: string[]) => void): (text: string) => void {
  let open: string[] | undefined;
  return (text) => {
    if (text === 'begin') open = [];
    const unit = open ?? [];
    unit.push(text);
    if (text === 'commit' || text === 'rollback') open = undefined;
    if (!open) end(unit);
  };
}

/**
 * Reads a client's messages (PostgreSQL manual, "Message Formats") and reports the texts that it executes: a Query's,
 * and for an Execute the last bound one.
 */
function createMessageReader(execute: (text: string) => void): (chunk: Buffer) => void {
  const prepared = new Map<string, string>();
  let rest: Buffer = Buffer.alloc(0);
  let isStarted = false;
  let bound = '';

  function take(type: string, body: Buffer): void {
    const [first = '', second = ''] = body.toString('latin1').split('\0', 2);
    if (type === 'Q') execute(first);
    if (type === 'P') prepared.set(first, second);
    if (type === 'B') bound = prepared.get(second) ?? '';
    if (type === 'E') execute(bound);
  }

  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      // The first message has no type.
      const head = isStarted ? 1 : 0;
      if (rest.length < head + 4) return;
      const length = head + rest.readUInt32BE(head);
      if (rest.length < length) return;
      if (isStarted) take(rest.toString('latin1', 0, 1), rest.subarray(5, length));
      isStarted = true;
      rest = rest.subarray(length);
    }
  };
}
