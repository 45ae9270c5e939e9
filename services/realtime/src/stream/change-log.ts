import {
  type Bus,
  type ErasedRecords,
  type EventMessage,
  type EventStream,
  findEventStream,
  type StreamState,
} from '@recordbus/bus';
import { AppError, unavailable } from '@recordbus/errors';
import type { Logger } from '@recordbus/process/logging';
import { delay } from '../delay.ts';
import { type Change, changeOf } from './change.ts';
import type { Cursor } from './cursor.ts';
import { createOlderChanges } from './older-changes.ts';
import { type ChangePart, createRecentChanges } from './recent-changes.ts';
import { createStreamTail } from './stream-tail.ts';

/** Why changes after a cursor are lost (realtime §4.3). */
export type MissedReason = 'stream_recreated' | 'too_old' | 'ahead' | 'too_far_behind';

/** The stream's changes, in order. */
export interface ChangeLog {
  start(): void;
  stop(): Promise<void>;
  /** Resolves when it is reading the stream. Throws 503 if the bus does not answer. */
  ready(): Promise<void>;
  /** The current end: everything up to here was read. Throws 503 while it is not reading (see `ready`). */
  readonly end: Cursor;
  /** Returns why a cursor cannot be resumed; undefined if it can. Throws 503 if the bus does not answer. */
  findMissed(cursor: Cursor): Promise<MissedReason | undefined>;
  /**
   * Returns the changes' next part after a sequence number. Throws MissedChanges if they are lost, and 503 if the bus
   * does not answer.
   */
  read(after: number): ChangePart | Promise<ChangePart>;
}

interface ChangeLogOptions {
  readonly bus: Bus;
  readonly stream: EventStream;
  readonly erased: Pick<ErasedRecords, 'isErasedSince' | 'refresh'>;
  readonly log: Logger;
  /** Whether there is any connection to read for. */
  readonly isUsed: () => boolean;
  /** Called with each new change, in order. */
  readonly onChange: (change: Change) => void;
  /** Called when changes were missed, so all clients must read their records again. */
  readonly onMissed: (reason: MissedReason) => void;
}

/** How long the first client waits until the stream is being read, in milliseconds. */
const connectMs = 5000;

const away = (cause?: unknown) => unavailable('live changes are not available: the bus does not answer', cause);

const epochOf = ({ life }: StreamState): string => String(life);

/** A client that is farther behind than this reads its list again (realtime §4.3). */
export const maxLag = 10_000;

export function createChangeLog({ bus, stream, erased, log, isUsed, onChange, onMissed }: ChangeLogOptions): ChangeLog {
  const recent = createRecentChanges();
  const older = createOlderChanges(bus, stream);
  let epoch: string | undefined;
  let connected = Promise.withResolvers<void>();
  const tail = createStreamTail({
    bus,
    stream,
    log,
    isUsed,
    onSleep: sleep,
    onConnect: connect,
    hasLost,
    onMessage: take,
  });

  /** Called when there are no clients. Later changes, older ones included, are read from the stream. */
  function sleep(): void {
    epoch = undefined;
    connected = Promise.withResolvers<void>();
  }

  function hasLost(state: StreamState): boolean {
    return epochOf(state) === epoch && state.lastSequence < recent.head;
  }

  function connect(state: StreamState): number {
    const missed = epoch === undefined ? undefined : missedSince({ epoch, seq: recent.head }, state);
    if (epoch === undefined || missed) {
      epoch = epochOf(state);
      recent.reset(state.lastSequence);
      older.clear();
      if (missed) miss(missed);
    }
    connected.resolve();
    return recent.head;
  }

  function miss(reason: MissedReason): void {
    log.warn({ stream: stream.name, reason }, 'live changes were missed, and clients read their lists again');
    onMissed(reason);
  }

  function take(message: EventMessage): void {
    if (message.seq <= recent.head) return;
    if (message.seq !== recent.head + 1) {
      recent.reset(message.seq - 1);
      miss('too_old');
    }
    const change = changeOf(message);
    recent.append(message.seq, change);
    if (change && !isErased(change)) onChange(change);
  }

  const isErased = ({ collectionId, recordId, atMs }: Change): boolean =>
    erased.isErasedSince({ collectionId, id: recordId }, atMs);

  const withoutErased = ({ changes, upTo }: ChangePart): ChangePart => ({
    changes: changes.filter((change) => !isErased(change)),
    upTo,
  });

  async function readOlder(after: number, recentAfter: number): Promise<ChangePart> {
    await erased.refresh();
    return withoutErased(await older.read(after, recentAfter));
  }

  /** If the bus disconnects meanwhile, the failure is temporary, whatever the NATS client throws. */
  async function askForStream() {
    try {
      return await findEventStream(bus, stream);
    } catch (error) {
      throw error instanceof AppError ? error : away(error);
    }
  }

  function endOf(): Cursor {
    if (epoch === undefined) throw away();
    return { epoch, seq: recent.head };
  }

  return {
    start: tail.start,
    stop: tail.stop,
    async ready() {
      tail.wake();
      if (epoch !== undefined) return;
      const isReached = bus.connected && (await Promise.race([connected.promise.then(() => true), delay(connectMs)]));
      if (!isReached) throw away();
    },
    get end() {
      return endOf();
    },
    async findMissed(cursor) {
      // A connection that continues must not have a record that was erased meanwhile.
      await erased.refresh();
      const { epoch, seq } = endOf();
      if (cursor.epoch === epoch && cursor.seq <= seq && cursor.seq >= recent.after) return undefined;
      const state = await askForStream();
      if (!state) throw unavailable('there is no event stream');
      return missedSince(cursor, state);
    },
    read(after) {
      const part = recent.read(after);
      return part ? withoutErased(part) : readOlder(after, recent.after);
    },
  };
}

/** Returns why a stream in this state has lost changes after a cursor; undefined if it has them all. */
function missedSince(cursor: Cursor, state: StreamState): MissedReason | undefined {
  if (cursor.epoch !== epochOf(state)) return 'stream_recreated';
  if (cursor.seq > state.lastSequence) return 'ahead';
  if (cursor.seq + 1 < state.firstSequence) return 'too_old';
  return state.lastSequence - cursor.seq > maxLag ? 'too_far_behind' : undefined;
}
