import { type Cte, historyTableOf, selectDeletedVersion } from '@recordbus/journal';
import { type Collection, quoteLiteral, tableOf } from '@recordbus/schema';

/**
 * The CTE `last`: for each id (in an SQL array) a row with the last record's version under that id, `updated_at` and
 * `_revision`, or nulls, and with `is_there`, whether such a record exists now. It waits until no other transaction
 * creates a record with the id. The statement sees the tables as they were before that wait, but the function reads
 * them after it. An existing record may be deleted in the next moment, and that delete's version is not known yet: so a
 * statement that finds one creates none.
 */
export const lastVersions = (collection: Collection, ids: string): Cte => ({
  name: 'last',
  sql: `select * from system.last_versions(${quoteLiteral(`${collection.id}/`)}, ${quoteLiteral(readLast(collection))}, ${ids})`,
  isMaterialized: true,
});

/** The query that `lastVersions` runs, with the ids as its parameter. */
const readLast = (collection: Collection): string => {
  const kept = collection.historyEnabled ? [selectLastVersion(collection, 'i.id')] : [];
  const versions = [selectDeletedVersion(collection, 'i.id'), ...kept].join(' union all ');
  return `select i.id, v.updated_at, v._revision, r.id is not null from unnest($1) i(id)
  left join ${tableOf(collection)} r on r.id = i.id
  left join lateral (select * from (${versions}) v order by v.updated_at desc, v._revision desc limit 1) v on true`;
};

const selectLastVersion = (collection: Collection, id: string): string =>
  `(select h.at, h._revision from ${historyTableOf(collection)} h where h.record_id = ${id}
    order by h.at desc, h._revision desc limit 1)`;
