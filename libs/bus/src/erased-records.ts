import type { Query } from '@recordbus/database';
import { type FollowedCopy, followedCopy } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import type { Bus } from './bus.ts';
import type { EventMessage } from './event-message.ts';
import { eventsKeptForMs } from './event-stream.ts';

/** Erased records whose events the stream may still have. No reader hands those on (privacy §2.5). */
export interface ErasedRecords extends Pick<FollowedCopy<unknown>, 'start' | 'stop' | 'refresh'> {
  /** Whether a message is an event of an erased record, from before its erasure. */
  isErased(message: Pick<EventMessage, 'header' | 'time'>): boolean;
  /** Whether a record was erased after a time, in milliseconds since the epoch; without a collection's id in any. */
  isErasedSince(record: { readonly collectionId: string | undefined; readonly id: string }, timeMs: number): boolean;
}

interface ErasedRow {
  readonly collectionId: string;
  readonly recordId: string;
  /** Milliseconds since the epoch. */
  readonly erasedAtMs: number;
}

interface Erased {
  /** By record id: ids of several collections may be equal. */
  readonly byId: ReadonlyMap<string, readonly ErasedRow[]>;
  readonly earliestMs: number;
  readonly latestMs: number;
}

const none: Erased = { byId: new Map(), earliestMs: Number.POSITIVE_INFINITY, latestMs: 0 };

const pollMs = 5000;
/** A long transaction commits its rows later than it dates them: so much is read again, in milliseconds. */
const overlapMs = 600_000;

interface ErasedRecordsDeps {
  readonly query: Query;
  readonly bus: Pick<Bus, 'onNotice'>;
  readonly log: Logger;
}

/** Creates this process's copy of the erased records. It has only those of the stream's days. */
export function createErasedRecords({ query, bus, log }: ErasedRecordsDeps): ErasedRecords {
  const copy = followedCopy<Erased>({
    name: 'the erased records',
    log,
    read: (before) => readErased(query, before),
    onNotice: (listener) => bus.onNotice('erasures', listener),
    pollMs,
  });

  function isErasedSince(
    { collectionId, id }: { readonly collectionId: string | undefined; readonly id: string },
    timeMs: number,
  ): boolean {
    const rows = copy.current.byId.get(id);
    return (
      rows?.some(
        (row) => (collectionId === undefined || row.collectionId === collectionId) && timeMs <= row.erasedAtMs,
      ) ?? false
    );
  }

  return {
    start: copy.start,
    stop: copy.stop,
    refresh: copy.refresh,
    isErasedSince,
    isErased({ header, time }) {
      if (copy.current.byId.size === 0) return false;
      const subject = header('ce-subject');
      if (subject === undefined) return false;
      const statedMs = Date.parse(header('ce-time') ?? '');
      const record = { collectionId: header('Service-Collection-Id'), id: subject.slice(subject.indexOf('/') + 1) };
      return isErasedSince(record, Number.isNaN(statedMs) ? time.getTime() : statedMs);
    },
  };
}

/**
 * Reads what is new, and leaves out what the stream no longer has. Returns the given copy if little has changed: a retention may
 * erase a million records, and a poll must not go through all of them.
 */
async function readErased(query: Query, before: Erased = none): Promise<Erased> {
  const oldestMs = Date.now() - eventsKeptForMs - overlapMs;
  const rows = await query<ErasedRow>({
    name: 'erased-records.read',
    text: `select collection_id as "collectionId", record_id as "recordId",
        extract(epoch from max(erased_at))::double precision * 1000 as "erasedAtMs"
      from system.erased_records
      where erased_at > to_timestamp($1::double precision / 1000) and has_messages group by 1, 2`,
    values: [Math.max(oldestMs, before.latestMs - overlapMs)],
  });
  const isKnown = ({ collectionId, recordId, erasedAtMs }: ErasedRow) =>
    before.byId.get(recordId)?.some((row) => row.collectionId === collectionId && row.erasedAtMs === erasedAtMs);
  if (rows.every(isKnown) && before.earliestMs > oldestMs - overlapMs) return before;
  const kept = [...before.byId.values()].flat().filter(({ erasedAtMs }) => erasedAtMs > oldestMs);
  const merged = new Map([...kept, ...rows].map((row) => [`${row.collectionId}/${row.recordId}`, row]));
  let { earliestMs, latestMs } = none;
  for (const { erasedAtMs } of merged.values()) {
    earliestMs = Math.min(earliestMs, erasedAtMs);
    latestMs = Math.max(latestMs, erasedAtMs);
  }
  return { byId: Map.groupBy(merged.values(), ({ recordId }) => recordId), earliestMs, latestMs };
}
