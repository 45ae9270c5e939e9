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

/** Erasures by record id: ids of several collections may be equal. */
type Erased = ReadonlyMap<string, readonly ErasedRow[]>;

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
    const rows = copy.current.get(id);
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
      if (copy.current.size === 0) return false;
      const subject = header('ce-subject');
      if (subject === undefined) return false;
      const statedMs = Date.parse(header('ce-time') ?? '');
      const record = { collectionId: header('Service-Collection-Id'), id: subject.slice(subject.indexOf('/') + 1) };
      return isErasedSince(record, Number.isNaN(statedMs) ? time.getTime() : statedMs);
    },
  };
}

/** Reads what is new, and leaves out what the stream no longer has. Returns the given copy if nothing has changed. */
async function readErased(query: Query, before: Erased = new Map()): Promise<Erased> {
  const oldestMs = Date.now() - eventsKeptForMs - overlapMs;
  const known = [...before.values()].flat();
  const latestMs = known.reduce((latest, { erasedAtMs }) => Math.max(latest, erasedAtMs), 0);
  const rows = await query<ErasedRow>({
    name: 'erased-records.read',
    text: `select collection_id as "collectionId", record_id as "recordId",
        extract(epoch from max(erased_at))::double precision * 1000 as "erasedAtMs"
      from system.erased_records
      where erased_at > to_timestamp($1::double precision / 1000) and has_messages group by 1, 2`,
    values: [Math.max(oldestMs, latestMs - overlapMs)],
  });
  const keyOf = ({ collectionId, recordId }: ErasedRow) => `${collectionId}/${recordId}`;
  const merged = new Map(known.filter(({ erasedAtMs }) => erasedAtMs > oldestMs).map((row) => [keyOf(row), row]));
  let isChanged = merged.size !== known.length;
  for (const row of rows) {
    const key = keyOf(row);
    if (merged.get(key)?.erasedAtMs === row.erasedAtMs) continue;
    merged.set(key, row);
    isChanged = true;
  }
  return isChanged ? Map.groupBy(merged.values(), ({ recordId }) => recordId) : before;
}
