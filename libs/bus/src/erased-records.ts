import type { Query } from '@recordbus/database';
import { type FollowedCopy, followedCopy } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import type { Bus } from './bus.ts';
import { createErasedSet, type ErasedRow, type ErasedSet } from './erased-set.ts';
import type { EventMessage } from './event-message.ts';
import { eventsKeptForMs } from './event-stream.ts';

/** Erased records whose events the stream may still have. No reader hands those on (privacy §2.5). */
export interface ErasedRecords extends Pick<FollowedCopy<unknown>, 'start' | 'stop' | 'refresh'> {
  /** Whether a message is an event of an erased record, from before its erasure. */
  isErased(message: Pick<EventMessage, 'header' | 'time'>): boolean;
  /** Whether a record was erased after a time, in milliseconds since the epoch; without a collection's id in any. */
  isErasedSince(record: { readonly collectionId: string | undefined; readonly id: string }, timeMs: number): boolean;
}

const pollMs = 5000;

/** The stream may keep a message a little longer than its days. */
const marginMs = 600_000;

/** How long a record that the stream no longer knows may stay in memory: the set is not rebuilt for each. */
const droppingMs = 3_600_000;

/** How many rows one statement reads. */
const rowsAtOnce = 10_000;

/** What a process knows. The set grows in place. */
interface Erased {
  readonly records: ErasedSet;
  /** Rows from transactions before this one were read. */
  readonly readTo: string;
}

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

  const isErasedSince: ErasedRecords['isErasedSince'] = (record, timeMs) =>
    copy.current.records.isErasedSince(record, timeMs);

  return {
    start: copy.start,
    stop: copy.stop,
    refresh: copy.refresh,
    isErasedSince,
    isErased({ header, time }) {
      if (copy.current.records.size === 0) return false;
      const subject = header('ce-subject');
      if (subject === undefined) return false;
      const statedMs = Date.parse(header('ce-time') ?? '');
      const record = { collectionId: header('Service-Collection-Id'), id: subject.slice(subject.indexOf('/') + 1) };
      return isErasedSince(record, Number.isNaN(statedMs) ? time.getTime() : statedMs);
    },
  };
}

/**
 * Reads the rows of transactions that the last read did not see, and leaves out what the stream no longer has. A transaction
 * commits its rows later than it dates them, so times do not say what is new.
 */
async function readErased(query: Query, before: Erased | undefined): Promise<Erased> {
  const oldestMs = Date.now() - eventsKeptForMs - marginMs;
  const records = before?.records ?? createErasedSet();
  const [next] = await query<{ readTo: string }>({
    name: 'erased-records.snapshot',
    text: `select pg_snapshot_xmin(pg_current_snapshot())::text as "readTo"`,
    values: [],
  });
  let place: readonly string[] = [before?.readTo ?? '0', zeroId, '', ''];
  for (;;) {
    const rows = await query<ErasedRow & { readonly transaction: string; readonly jobId: string }>({
      name: 'erased-records.read',
      text: `select transaction_id::text as transaction, job_id as "jobId", collection_id as "collectionId", record_id as "recordId",
          extract(epoch from erased_at)::double precision * 1000 as "erasedAtMs"
        from system.erased_records
        where (transaction_id, job_id, collection_id, record_id) > ($1::xid8, $2::uuid, $3::text, $4::text)
          and erased_at is not null and has_messages and erased_at > to_timestamp($5::double precision / 1000)
        order by transaction_id, job_id, collection_id, record_id limit ${rowsAtOnce}`,
      values: [...place, oldestMs],
    });
    records.add(rows);
    const last = rows.at(-1);
    if (!last || rows.length < rowsAtOnce) break;
    place = [last.transaction, last.jobId, last.collectionId, last.recordId];
  }
  if (records.earliestMs < oldestMs - droppingMs) records.dropBefore(oldestMs);
  return { records, readTo: next?.readTo ?? '0' };
}

const zeroId = '00000000-0000-0000-0000-000000000000';
