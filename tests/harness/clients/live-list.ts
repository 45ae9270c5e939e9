import type { JsonObject } from '../json.ts';
import { type LiveClient, type LiveMessage, openLive } from './live-client.ts';

/** A list that follows its collection as a product client would (docs/realtime.md). */
export interface LiveList extends AsyncDisposable {
  /** The records by their ids. */
  readonly records: ReadonlyMap<string, JsonObject>;
  /** Refusals, and versions that are repeated or come after a newer one on one connection. Must stay empty. */
  readonly faults: readonly string[];
  readonly counts: Readonly<Record<'connects' | 'resyncs' | 'messages' | 'repeated', number>>;
  /** Cuts its connection; it reconnects after a while. */
  cut(afterMs: number): void;
}

interface LiveListOptions {
  /** Returns the address to connect to, because replicas start and stop. */
  readonly urlOf: () => string;
  readonly collection: string;
  readonly token?: string | undefined;
}

const reconnectMs = 100;

/** A heartbeat arrives every 15 s. After this silence the connection is dead, as in the product's client. */
const longestSilenceMs = 40_000;

/** Opens the list. It reconnects with its cursor until it is stopped, and reads again on `resync`. */
export function openLiveList({ urlOf, collection, token }: LiveListOptions): LiveList {
  const records = new Map<string, JsonObject>();
  /** Includes deletes' versions, so that a repeated message restores no record. */
  const versions = new Map<string, string>();
  /** Each record's last version on this connection. */
  const versionsHere = new Map<string, string>();
  const faults: string[] = [];
  const counts = { connects: 0, resyncs: 0, messages: 0, repeated: 0 };
  let [cursor, isStopped, pauseMs]: [string | undefined, boolean, number] = [undefined, false, reconnectMs];
  let live: LiveClient | undefined;
  const running = run();

  async function run(): Promise<void> {
    while (!isStopped) {
      const subscription = {
        collection,
        ...(cursor === undefined ? { snapshot: { perPage: 1000 } } : { after: cursor }),
      };
      try {
        live = await openLive(urlOf(), [subscription], { token });
        if (live.status === 200) await follow(live);
      } catch {
        // The product is unreachable.
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      pauseMs = reconnectMs;
    }
  }

  async function follow(client: LiveClient): Promise<void> {
    counts.connects += 1;
    versionsHere.clear();
    let next = 0;
    let heardAtMs = performance.now();
    while (!isStopped && performance.now() - heardAtMs < longestSilenceMs) {
      if (next < client.messages.length) heardAtMs = performance.now();
      for (; next < client.messages.length; next += 1) {
        const message = client.messages[next];
        if (message && apply(message) === 'again') {
          cursor = undefined;
          client.close();
          return;
        }
      }
      if (client.isClosed) return;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    client.close();
  }

  function apply({ type, data }: LiveMessage): 'again' | undefined {
    if (type === 'resync') {
      counts.resyncs += 1;
      return 'again';
    }
    // Its subscription has ended, which no temporary failure may cause.
    if (type === 'error') {
      faults.push(`error ${JSON.stringify(data)}`);
      return 'again';
    }
    // Before its snapshot a list has no cursor to resume from, and only `ready` comes before it.
    if (type !== 'ready' && typeof data.cursor === 'string') cursor = data.cursor;
    if (type === 'snapshot') {
      records.clear();
      for (const record of data.records as readonly JsonObject[]) records.set(String(record.id), record);
    } else if (typeof data.version === 'string') applyChange(type, data, data.version);
    return undefined;
  }

  function applyChange(type: string, data: JsonObject, version: string): void {
    counts.messages += 1;
    const record = data.record as JsonObject | undefined;
    const id = String(record?.id ?? data.id);
    const order = orderAfter(version, versions.get(id));
    // A snapshot may already include later changes. On one connection nothing is repeated or goes back.
    if (order <= 0) counts.repeated += 1;
    if (orderAfter(version, versionsHere.get(id)) <= 0)
      faults.push(`${id} came with version ${version} after ${versionsHere.get(id)}`);
    versionsHere.set(id, version);
    if (order < 0) return;
    versions.set(id, version);
    if (record) records.set(id, record);
    else records.delete(id);
    if (record && type !== 'create' && type !== 'update' && type !== 'enter') faults.push(`a record with ${type}`);
  }

  return {
    records,
    faults,
    counts,
    cut(afterMs) {
      pauseMs = afterMs;
      live?.close();
    },
    async [Symbol.asyncDispose]() {
      isStopped = true;
      live?.close();
      await running;
    },
  };
}

const orderAfter = (version: string, known: string | undefined) =>
  known === undefined ? 1 : compareVersions(version, known);

/** Compares versions by events §2.5: the second, then the number after the dot. */
export function compareVersions(a: string, b: string): number {
  const [aParts, bParts] = [a.split('.').map(Number), b.split('.').map(Number)];
  return (aParts[0] ?? 0) - (bParts[0] ?? 0) || (aParts[1] ?? 0) - (bParts[1] ?? 0);
}
