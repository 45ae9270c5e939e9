import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Bus } from '@recordbus/bus';
import type { Database } from '@recordbus/database';
import { isDiskFull } from '@recordbus/errors';
import { MoveFailed, moveArchive } from '@recordbus/pocketbase-move';
import { every } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import { createQueueWorker, LostLease, underLease } from '@recordbus/queue';
import type { Storage } from '@recordbus/storage';
import { makeMoveKey, revokeMoveKey } from './move-key.ts';
import {
  endAbandoned,
  endMove,
  type HeldMove,
  keepPlan,
  leaveMove,
  listLeftovers,
  listUnfinished,
  moveKey,
  noteCleared,
  noteKey,
  noteProgress,
  removeOldMoves,
  renewMove,
  renewMs,
  takeMove,
} from './move-rows.ts';

interface MovesDeps {
  /** The connections for background work. */
  readonly database: Database;
  readonly bus: Bus;
  readonly log: Logger;
  readonly archives: Storage;
  /** The folder in which backups are unpacked. */
  readonly folder: string;
  /** The gateway's address, as this process reaches it; undefined if nobody told it. */
  gatewayUrl(): string | undefined;
  /** How many bytes an unpacked backup may have. */
  maxBytes(): number;
  retentionDays(): number;
}

/** A replica's part in moves from other products (move §5). */
export interface Moves {
  /** Whether this replica can run moves. */
  canRun(): boolean;
  wake(): void;
  start(): void;
  stop(): Promise<void>;
}

/** Attempts without a reason in the backup after which a move fails, and the wait before the next one, in seconds. */
const maxFailures = 5;
const retrySec = 5;

const noteEveryMs = 1000;

/** Creates a replica's worker for moves. Each runs in a process of its own, which calls the API as a command would. */
export function createMoves(deps: MovesDeps): Moves {
  const { database, bus, log, archives, folder } = deps;
  const { query } = database;
  const worker = createQueueWorker<HeldMove>({
    name: 'take moves',
    log,
    maxRunning: 1,
    async claim() {
      const move = deps.gatewayUrl() === undefined ? undefined : await takeMove(query);
      return { items: move ? [move] : [] };
    },
    work,
  });
  const tidying = every({ name: 'tidy moves', log, intervalMs: 10_000, firstAfterMs: 1000, run: tidy });

  async function work(move: HeldMove, ending: AbortSignal): Promise<void> {
    log.info({ move: move.id, state: move.state }, 'work on a move begins');
    try {
      await underLease({ renewMs, renew: () => renewMove(query, move), ending }, (signal) => attempt(move, signal));
      log.info({ move: move.id }, 'work on a move ends');
    } catch (error) {
      await fail(move, error, ending).catch((err) => log.warn({ move: move.id, err }, "cannot note a move's failure"));
    }
    tidying.wake();
  }

  async function attempt(move: HeldMove, signal: AbortSignal): Promise<void> {
    const own = join(folder, move.id);
    await fetchArchive(move.id, own, signal);
    if (move.key_id !== null) await revoke(move.key_id);
    const isRun = move.state === 'running';
    const key = await makeMoveKey(database, (run, id) => noteKey(run, move, id, isRun));
    bus.notify('accounts');
    try {
      const order = {
        ...move.options,
        folder: own,
        address: { url: deps.gatewayUrl() ?? '', key: key.text },
        maxBytes: deps.maxBytes(),
        dryRun: !isRun,
        isContinued: move.has_begun,
      };
      const { report } = await moveArchive(order, signal, noteSometimes(move));
      if (isRun) await endMove(query, move, { report });
      else await keepPlan(query, move, report);
    } finally {
      await revoke(key.id);
    }
  }

  /** Copies the backup from the store, unless this replica has it from an earlier attempt. */
  async function fetchArchive(id: string, own: string, signal: AbortSignal): Promise<void> {
    await mkdir(own, { recursive: true, mode: 0o700 });
    const names = await readdir(own);
    if (names.includes('unpacked')) return;
    const source = await archives.open(moveKey(id));
    if (!source) throw new MoveFailed('The backup is no longer in the store: upload it again.', false);
    await pipeline(source, createWriteStream(join(own, 'backup.zip'), { mode: 0o600 }), { signal });
  }

  const revoke = async (id: string): Promise<void> => {
    await revokeMoveKey(database, id);
    bus.notify('accounts');
  };

  function noteSometimes(move: HeldMove): (text: string, part: number | undefined) => void {
    let nextMs = 0;
    return (text, part = undefined) => {
      if (performance.now() < nextMs) return;
      nextMs = performance.now() + noteEveryMs;
      noteProgress(query, move, { text, part: part ?? null }).catch((err) =>
        log.warn({ move: move.id, err }, "cannot note a move's progress"),
      );
    };
  }

  /** A reason in the backup ends the move. After others it is tried again. */
  async function fail(move: HeldMove, error: unknown, ending: AbortSignal): Promise<void> {
    if (error instanceof LostLease) return;
    if (ending.aborted) return leaveMove(query, move, { pauseSec: 0, isFailure: false });
    const isFinal = error instanceof MoveFailed && !error.mayRetry;
    if (isFinal || move.failures + 1 >= maxFailures) {
      log.warn({ move: move.id, err: error }, 'a move failed');
      return endMove(query, move, { error: reasonOf(error) });
    }
    log.warn({ move: move.id, err: error }, 'a move was interrupted and will continue soon');
    return leaveMove(query, move, { pauseSec: retrySec, isFailure: true });
  }

  /** Removes what moves that are over have left: archives, unpacked files and keys. */
  async function tidy(): Promise<void> {
    await endAbandoned(query);
    for (const { id, key_id: key } of await listLeftovers(query)) {
      if (key !== null) await revoke(key);
      await archives.delete(moveKey(id));
      await noteCleared(query, id);
    }
    const kept = await listUnfinished(query);
    const running = new Set(worker.running.map(({ id }) => id));
    for (const id of await readdir(folder).catch(() => []))
      if (!kept.has(id) && !running.has(id)) await rm(join(folder, id), { recursive: true, force: true });
    await removeOldMoves(query, deps.retentionDays());
  }

  return {
    canRun: () => deps.gatewayUrl() !== undefined,
    wake: () => {
      worker.wake();
      tidying.wake();
    },
    start() {
      worker.start();
      tidying.start();
    },
    async stop() {
      await worker.stop();
      await tidying.stop();
    },
  };
}

/** Returns why a move failed, for admins. The log has the whole error. */
function reasonOf(error: unknown): string {
  if (error instanceof MoveFailed) return error.message;
  if (isDiskFull(error)) return 'The disk is full: make room, and upload the backup again.';
  return 'It failed; the log has the reason.';
}
