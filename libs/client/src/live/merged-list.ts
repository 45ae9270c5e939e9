import { etagOf, remember } from '../versions.ts';
import { comparatorOf, compareVersions } from './order.ts';
import type { StreamEvent } from './stream.ts';

type AnyRecord = Readonly<Record<string, unknown>> & { readonly id: string };

/** A message's data about one record. */
interface Changed {
  readonly record?: AnyRecord;
  readonly version?: string;
  readonly id?: string;
}

/** For how many records outside the list versions are remembered. Only recent messages are ever repeated. */
const maxRemembered = 10_000;

/** A snapshot's records and the changes after it, as one list. */
export interface MergedList {
  readonly records: readonly AnyRecord[];
  /**
   * How many records match. If there are more than the limit, it is computed from the last snapshot and later changes.
   */
  readonly total: number;
  /** Applies a message. Returns what must be read again. */
  apply(type: string, data: StreamEvent['data']): 'records' | 'total' | undefined;
}

/** Creates a list with a sort's first `limit` records. */
export function createMergedList(sort: string | readonly string[] | undefined, limit: number): MergedList {
  const compare = comparatorOf(sort);
  /** Includes deletes' versions, so a repeated message does not bring a record back. */
  const versions = new Map<string, string>();
  let records: readonly AnyRecord[] = [];
  let total = 0;
  /** Whether there may be records beyond the limit. Only a snapshot can show that there are none. */
  let hasMore = false;
  /** A version from a later second is not in the last snapshot. */
  let snapshotSecond = 0;

  function replace(snapshot: readonly AnyRecord[], all: number, at: number): void {
    snapshotSecond = at;
    versions.clear();
    // A snapshot shows only a version's second. Earlier versions are old.
    for (const { id, updated } of snapshot) if (typeof updated === 'number') versions.set(id, String(updated));
    [records, total, hasMore] = [snapshot, all, all > snapshot.length];
  }

  /** Whether a message is about a later version than the last one. */
  function isNews(id: string, version: string): boolean {
    const known = versions.get(id);
    if (known !== undefined && compareVersions(version, known) <= 0) return false;
    versions.delete(id);
    versions.set(id, version);
    if (versions.size > records.length + 2 * maxRemembered) forgetOldest();
    return true;
  }

  /** Forgets the oldest versions, except for shown records. */
  function forgetOldest(): void {
    const shown = new Set(records.map(({ id }) => id));
    let excess = versions.size - shown.size - maxRemembered;
    for (const id of versions.keys()) {
      if (excess <= 0) return;
      if (shown.has(id)) continue;
      versions.delete(id);
      excess -= 1;
    }
  }

  /**
   * Whether the last snapshot may already have counted this change. The snapshot has versions only for the records that
   * it shows. Another record may be written before the total is read, and its message may arrive after the snapshot.
   */
  const mayBeCounted = (id: string, version: string): boolean =>
    hasMore && !versions.has(id) && Math.floor(Number(version)) <= snapshotSecond;

  function show(next: readonly AnyRecord[], change: number): void {
    hasMore ||= next.length > limit;
    records = next.slice(0, limit);
    total = hasMore ? Math.max(records.length, total + change) : records.length;
  }

  /** Inserts a record by its sort. Before a record at the end there may be others that are not shown. */
  function put(record: AnyRecord, isNew: boolean): boolean {
    const others = records.filter(({ id }) => id !== record.id);
    const before = others.findIndex((other) => compare(record, other) < 0);
    const at = before === -1 ? others.length : before;
    const needsMore = hasMore && at === others.length && others.length < limit;
    show([...others.slice(0, at), record, ...others.slice(at)], isNew && others.length === records.length ? 1 : 0);
    return needsMore;
  }

  function remove(id: string): boolean {
    show(
      records.filter((record) => record.id !== id),
      -1,
    );
    return hasMore && records.length < limit;
  }

  /** Applies a change; returns undefined if it is already known. */
  function change(type: string, { record, version = '', id = record?.id ?? '' }: Changed): boolean | undefined {
    if (!isNews(id, version)) return undefined;
    return record ? put(remember(record, etagOf(version)), type !== 'update') : remove(id);
  }

  return {
    get records() {
      return records;
    },
    get total() {
      return total;
    },
    apply(type, data) {
      if (type === 'snapshot') replace(data.records as readonly AnyRecord[], Number(data.total), Number(data.at ?? 0));
      const changed = data as Changed;
      const id = changed.record?.id ?? changed.id;
      if (changed.version === undefined || id === undefined) return undefined;
      const isUnsure = type !== 'update' && mayBeCounted(id, changed.version);
      const needsMore = change(type, changed);
      if (needsMore) return 'records';
      return needsMore === false && isUnsure && hasMore ? 'total' : undefined;
    },
  };
}
