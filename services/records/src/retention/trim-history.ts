import type { Query } from '@recordbus/database';
import { historyTableOf } from '@recordbus/journal';
import { type Collection, tableOf } from '@recordbus/schema';

interface Position {
  readonly recordId: string;
  readonly at: number;
  readonly revision: number;
}

/** How many versions one statement looks at. */
const readAtOnce = 5000;

const beginning: Position = { recordId: '', at: 0, revision: 0 };

/**
 * Removes the versions that a collection no longer keeps (history §7), part by part. An existing record keeps its newest version.
 * Returns how many went.
 */
export async function trimHistory(query: Query, collection: Collection, ending: AbortSignal): Promise<number> {
  if (!collection.historyKeep || !(await hasTable(query, collection))) return 0;
  const text = composeTrim(collection);
  const { days = null, versions = null } = collection.historyKeep;
  let removed = 0;
  let position: Position | undefined = beginning;
  while (position && !ending.aborted) {
    const { recordId, at, revision }: Position = position;
    const [row]: Trimmed[] = await query<Trimmed>({ text, values: [recordId, at, revision, days, versions] });
    removed += row?.removed ?? 0;
    position = row && row.read === readAtOnce ? (row.last ?? undefined) : undefined;
  }
  return removed;
}

interface Trimmed {
  readonly removed: number;
  readonly read: number;
  readonly last: Position | null;
}

/** $1 to $3 are the position, $4 the days and $5 the versions to keep, or null. The order is the primary key's. */
const composeTrim = (collection: Collection): string => {
  const table = historyTableOf(collection);
  const newest = `select n.at, n._revision from ${table} n where n.record_id = s.record_id
        order by n.at desc, n._revision desc`;
  return `with s as materialized (
      select record_id, at, _revision from ${table}
      where (record_id, at, _revision) > ($1::text, $2::bigint, $3::integer)
      order by record_id, at, _revision limit ${readAtOnce}
    ), records as materialized (
      select s.record_id, last.at, last._revision, kept.at as kept_at, kept._revision as kept_revision,
        exists (select from ${tableOf(collection)} t where t.id = s.record_id) as is_there
      from (select distinct record_id from s) s
      cross join lateral (${newest} limit 1) last
      left join lateral (${newest} offset greatest($5::bigint, 1) - 1 limit 1) kept on $5::bigint is not null
    ), gone as (
      delete from ${table} h using s join records r using (record_id)
      where (h.record_id, h.at, h._revision) = (s.record_id, s.at, s._revision)
        and not (r.is_there and (h.at, h._revision) = (r.at, r._revision))
        and (h.at < extract(epoch from now())::bigint - $4::bigint * 86400
          or (h.at, h._revision) < (r.kept_at, r.kept_revision))
      returning 1
    )
    select (select count(*) from gone)::integer as removed, (select count(*) from s)::integer as read, (
        select json_build_object('recordId', record_id, 'at', at, 'revision', _revision) from s
        order by record_id desc, at desc, _revision desc limit 1
      ) as last`;
};

/** A collection without history has no table, unless it had history once. */
async function hasTable(query: Query, collection: Collection): Promise<boolean> {
  const [row] = await query<{ is_there: boolean }>({
    text: 'select to_regclass($1) is not null as is_there',
    values: [historyTableOf(collection)],
  });
  return row?.is_there === true;
}
