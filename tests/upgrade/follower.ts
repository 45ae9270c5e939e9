import { setTimeout as pause } from 'node:timers/promises';
import { openLive } from '../harness/clients/live-client.ts';
import { compareVersions } from '../harness/clients/live-list.ts';
import { openSocket } from '../harness/clients/live-socket.ts';
import { eventually } from '../harness/eventually.ts';
import type { JsonObject } from '../harness/json.ts';

/** A live client that follows a collection, and reconnects with its cursor. */
export interface Follower extends AsyncDisposable {
  readonly kind: 'events' | 'socket';
  /** The ids of created records. */
  readonly created: ReadonlySet<string>;
  /** Each updated record's values. */
  readonly values: ReadonlyMap<string, ReadonlySet<number>>;
  /** Refusals, and versions that do not come after the record's earlier one on the same connection. */
  readonly faults: readonly string[];
  readonly counts: Readonly<Record<'connects' | 'resyncs' | 'changes' | 'repeated', number>>;
}

type Message = { readonly type: string; readonly data: JsonObject };

const reconnectMs = 100;

/** Opens a follower. It is ready once its first connection has its cursor. */
export async function openFollower(kind: Follower['kind'], url: string, collection: string): Promise<Follower> {
  const created = new Set<string>();
  const values = new Map<string, Set<number>>();
  const faults: string[] = [];
  const counts = { connects: 0, resyncs: 0, changes: 0, repeated: 0 };
  const versions = new Map<string, string>();
  let [cursor, isOver]: [string | undefined, boolean] = [undefined, false];

  async function open() {
    const subscription = { collection, ...(cursor !== undefined && { after: cursor }) };
    if (kind === 'socket') {
      const socket = await openSocket(url);
      socket.send({ type: 'subscribe', id: '0', ...subscription });
      return { messages: socket.messages, isClosed: () => socket.closed !== undefined, close: () => socket.close() };
    }
    const live = await openLive(url, [subscription]);
    if (live.status !== 200 && live.status !== 503) faults.push(`${live.status} ${live.text}`);
    return { messages: live.messages, isClosed: () => live.isClosed, close: () => live.close() };
  }

  async function follow(): Promise<void> {
    const connection = await open();
    counts.connects += 1;
    const versionsHere = new Map<string, string>();
    for (let next = 0; !isOver; ) {
      for (; next < connection.messages.length; next += 1) apply(connection.messages[next], versionsHere);
      if (connection.isClosed() && next === connection.messages.length) return;
      await pause(10);
    }
    connection.close();
  }

  function apply(message: Message | undefined, versionsHere: Map<string, string>): void {
    if (!message) return;
    const { type, data } = message;
    if (type === 'error') faults.push(JSON.stringify(data));
    if (type === 'resync') counts.resyncs += 1;
    if (typeof data.cursor === 'string') cursor = data.cursor;
    const record = data.record as JsonObject | undefined;
    if (!record || typeof data.version !== 'string') return;
    const id = String(record.id);
    counts.changes += 1;
    const [known, here] = [versions.get(id), versionsHere.get(id)];
    if (here !== undefined && compareVersions(data.version, here) <= 0)
      faults.push(`${id} came with version ${data.version} after ${here}`);
    if (known !== undefined && compareVersions(data.version, known) <= 0) counts.repeated += 1;
    else versions.set(id, data.version);
    versionsHere.set(id, data.version);
    if (type === 'create') created.add(id);
    values.set(id, (values.get(id) ?? new Set()).add(Number(record.value)));
  }

  async function run(): Promise<void> {
    while (!isOver) {
      // A refused connection is tried again, as every client does.
      await follow().catch(() => {});
      await pause(reconnectMs);
    }
  }

  const running = run();
  await eventually('the first connection is ready', () => cursor !== undefined);
  return {
    kind,
    created,
    values,
    faults,
    counts,
    async [Symbol.asyncDispose]() {
      isOver = true;
      await running;
    },
  };
}
