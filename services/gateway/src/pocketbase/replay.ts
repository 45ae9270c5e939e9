import { createHmac } from 'node:crypto';
import type { Database } from '@recordbus/database';
import { earlierOf } from '@recordbus/pocketbase-clients';
import { every } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import type { Settings } from '@recordbus/settings';
import { type CursorHistory, type Cursors, createCursorHistory } from './cursor-history.ts';
import {
  type EarlierStream,
  findEarlierStreams,
  removeOldStreams,
  type StreamRow,
  storeStreams,
} from './left-streams.ts';
import type { OtherGateways } from './other-gateways.ts';

/** A stream that follows topics. */
export interface ReplayedStream {
  /** The client's id. */
  readonly clientId: string;
  /** Names the account; empty for a guest. */
  readonly account: string;
  /** The client's address, as limits count it. */
  readonly address: string;
  /** Where each topic is now. */
  readonly cursors: Cursors;
}

/** Remembers streams in the database, so that their clients may come back to any gateway. */
export interface Replay {
  /** Notes that a stream is open, after its topics have changed and with each beat. */
  note(stream: ReplayedStream): void;
  /** Notes that a stream has ended. `isWhole`: its client got everything that was sent. */
  end(stream: ReplayedStream, isWhole: boolean): void;
  /**
   * Finds where topics continue that the caller followed on a stream that has ended lately, or that its client has left
   * for another network. Topics without such a stream are left out. Never throws.
   */
  find(stream: Pick<ReplayedStream, 'account' | 'address'>, topics: readonly string[]): Promise<Cursors>;
  /** Which of these streams (hashes) have ended here. Resolves when their ends are stored. */
  listEnded(ids: readonly string[]): Promise<readonly string[]>;
  /** Stores the ends. */
  stop(): Promise<void>;
}

interface ReplayDeps {
  readonly database: Pick<Database, 'query'>;
  readonly settings: Settings;
  readonly log: Logger;
  /** The deployment's secret; only hashes under it are stored. */
  readonly secret: Uint8Array;
  readonly gateway: string;
  /** The version of the schema that this gateway knows. */
  readonly schemaVersion: () => number;
  readonly others: Pick<OtherGateways, 'listEnded'>;
}

/** How often streams are noted, in seconds. */
export const beatSec = 15;
const removeEveryMs = 60_000;
/** How many streams one statement stores. */
const storedAtOnce = 500;
const none: Cursors = new Map();

/** Creates it. Nothing happens while `pocketbase.replay_s` is 0. */
export function createReplay(deps: ReplayDeps): Replay {
  const { database, settings, log, secret, gateway, schemaVersion, others } = deps;
  const keptSec = () => settings.get('pocketbase.replay_s');
  const open = new Map<string, CursorHistory>();
  let waiting = new Map<string, StreamRow>();
  let storing: Promise<void> | undefined;
  let isRemoving = false;
  const removing = every({
    name: "remove PocketBase clients' streams that ended",
    log,
    level: 'debug',
    intervalMs: removeEveryMs,
    firstAfterMs: removeEveryMs,
    run: () => removeOldStreams(database.query, keptSec() + 2 * beatSec),
  });

  const hashOf = (kind: string, text: string) =>
    createHmac('sha256', secret).update(`pocketbase ${kind} ${text}`).digest('base64url').slice(0, 24);
  const callerOf = ({ account, address }: Pick<ReplayedStream, 'account' | 'address'>) =>
    hashOf('caller', account === '' ? `guest ${address}` : account);

  function store(stream: ReplayedStream, cursors: Cursors | undefined, isOpen: boolean): void {
    if (!cursors || cursors.size === 0) return;
    const id = hashOf('stream', stream.clientId);
    waiting.set(id, {
      id,
      gateway,
      caller: callerOf(stream),
      address: hashOf('address', stream.address),
      cursors: Object.fromEntries([...cursors].map(([topic, cursor]) => [hashOf('topic', topic), cursor])),
      schema_version: schemaVersion(),
      is_open: isOpen,
    });
    if (!isRemoving) removing.start();
    isRemoving = true;
    storing ??= storeAll().finally(() => {
      storing = undefined;
    });
  }

  async function storeAll(): Promise<void> {
    // Streams that end or begin together are stored together.
    await Promise.resolve();
    while (waiting.size > 0) {
      const rows = [...waiting.values()];
      waiting = new Map();
      for (let from = 0; from < rows.length; from += storedAtOnce)
        await storeStreams(database.query, rows.slice(from, from + storedAtOnce)).catch((error: unknown) =>
          log.warn({ err: error }, "cannot store PocketBase clients' streams: some may miss changes"),
        );
    }
  }

  async function listEnded(ids: readonly string[]): Promise<readonly string[]> {
    const ended = ids.filter((id) => !open.has(id));
    if (ended.length > 0) await storing;
    return ended;
  }

  /** The streams among these that have ended, although their rows say otherwise. */
  async function endedOf(rows: readonly EarlierStream[]): Promise<ReadonlySet<string>> {
    const ended = await Promise.all(
      [...Map.groupBy(rows, (row) => row.gateway)].map(([name, streams]) => {
        const ids = streams.map(({ id }) => id);
        return name === gateway ? listEnded(ids) : others.listEnded(name, ids);
      }),
    );
    return new Set(ended.flat());
  }

  async function findCursors(
    { account, address }: Pick<ReplayedStream, 'account' | 'address'>,
    texts: readonly string[],
  ) {
    const topics = new Map(texts.map((text) => [hashOf('topic', text), text]));
    const wanted = { caller: callerOf({ account, address }), topics: [...topics.keys()], keptSec: keptSec(), beatSec };
    let rows = await findEarlierStreams(database.query, wanted);
    const ended = await endedOf(rows.filter((row) => row.is_open));
    if (ended.size > 0) rows = await findEarlierStreams(database.query, wanted);
    // A phone that changes its network leaves a stream behind that still looks open. Guests have no other name.
    const isElsewhere = (row: EarlierStream) => account !== '' && row.address !== hashOf('address', address);
    const cursors = new Map<string, string>();
    for (const row of rows.filter((one) => !one.is_open || ended.has(one.id) || isElsewhere(one)))
      for (const [topic, cursor] of Object.entries(row.cursors)) {
        const text = topics.get(topic);
        if (text !== undefined) cursors.set(text, earlierOf(cursors.get(text), cursor));
      }
    return cursors;
  }

  return {
    note(stream) {
      if (keptSec() === 0) return;
      const id = hashOf('stream', stream.clientId);
      const history = open.get(id) ?? createCursorHistory();
      open.set(id, history);
      history.mark(stream.cursors, schemaVersion());
      store(stream, history.settled(stream.cursors, schemaVersion(), keptSec() * 1000), true);
    },
    end(stream, isWhole) {
      const id = hashOf('stream', stream.clientId);
      const history = open.get(id);
      open.delete(id);
      const { cursors } = stream;
      const where = isWhole
        ? history?.exact(cursors, schemaVersion())
        : history?.settled(cursors, schemaVersion(), keptSec() * 1000);
      if (keptSec() > 0) store(stream, where, false);
    },
    async find(stream, topics) {
      if (keptSec() === 0 || topics.length === 0) return none;
      try {
        return await findCursors(stream, topics);
      } catch (error) {
        log.warn({ err: error }, 'cannot find what a PocketBase client missed');
        return none;
      }
    },
    listEnded,
    async stop() {
      await removing.stop();
      await storing;
    },
  };
}
