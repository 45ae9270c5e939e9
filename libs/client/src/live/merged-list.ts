import { etagOf, remember } from '../versions.ts';
import { comparatorOf, compareVersions } from './order.ts';
import type { StreamEvent } from './stream.ts';

type AnyRecord = Readonly<Record<string, unknown>> & { readonly id: string };

/** The records of a snapshot and of the changes after it, as one list. */
export interface MergedList {
  readonly records: readonly AnyRecord[];
  /** The number of records that match; with records beyond the limit, as of the last snapshot and what came since. */
  readonly total: number;
  /** Takes a message. Returns true when records beyond the limit have to be read. */
  apply(type: string, data: StreamEvent['data']): boolean;
}

/** Creates a list of the first `limit` records of a sort. */
export function createMergedList(sort: string | readonly string[] | undefined, limit: number): MergedList {
  const compare = comparatorOf(sort);
  /** Versions of deletes too, so that a repeated message brings no record back. */
  const versions = new Map<string, string>();
  let records: readonly AnyRecord[] = [];
  let total = 0;
  /** Whether there may be records beyond the limit. Only a snapshot knows that there are none any longer. */
  let hasMore = false;

  function replace(snapshot: readonly AnyRecord[], all: number): void {
    versions.clear();
    // A snapshot shows only the second of a version: what is older than it is old.
    for (const { id, updated } of snapshot) if (typeof updated === 'number') versions.set(id, String(updated));
    [records, total, hasMore] = [snapshot, all, all > snapshot.length];
  }

  /** Whether a message is about a later version than the last one. */
  function isNews(id: string, version: string): boolean {
    const known = versions.get(id);
    if (known !== undefined && compareVersions(version, known) <= 0) return false;
    versions.set(id, version);
    return true;
  }

  function show(next: readonly AnyRecord[], change: number): void {
    hasMore ||= next.length > limit;
    records = next.slice(0, limit);
    total = hasMore ? Math.max(records.length, total + change) : records.length;
  }

  /** Puts a record in its place. One at the end may be behind others that are not shown. */
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

  return {
    get records() {
      return records;
    },
    get total() {
      return total;
    },
    apply(type, data) {
      const { record, version, id } = data as { record?: AnyRecord; version?: string; id?: string };
      if (type === 'snapshot') replace(data.records as readonly AnyRecord[], Number(data.total));
      else if (version !== undefined && record && isNews(record.id, version))
        return put(remember(record, etagOf(version)), type !== 'update');
      else if (version !== undefined && id !== undefined && !record && isNews(id, version)) return remove(id);
      return false;
    },
  };
}
