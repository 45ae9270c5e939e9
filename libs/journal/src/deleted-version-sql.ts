import { type Collection, quoteLiteral } from '@recordbus/schema';
import { nextRevision, nextUpdatedAt, nowSec } from './version-sql.ts';

/** Inserts the versions that deleted rows had. `source` is the relation with the rows before the delete. */
export const insertDeletedVersions = ({ id }: Collection, source: string): string =>
  `insert into system.deleted_versions (collection_id, record_id, updated_at, revision)
  select ${quoteLiteral(id)}, n.id, ${nextUpdatedAt('n')}, ${nextRevision('n')} from ${source} n
  on conflict (collection_id, record_id) do update set updated_at = excluded.updated_at, revision = excluded.revision`;

/** Selects the version that the last record with an id (SQL) had at its delete; no row if that was long ago. */
export const selectDeletedVersion = ({ id: collection }: Collection, id: string): string =>
  `select d.updated_at, d.revision as _revision from system.deleted_versions d
  where d.collection_id = ${quoteLiteral(collection)} and d.record_id = ${id}`;

/** How long a deleted version is kept after its second, in seconds. One second would be enough. */
const keptSec = 60;

/** Drops the versions that no new record can repeat. It does not wait for deletes. */
export const dropDeletedVersions = {
  text: `delete from system.deleted_versions d using (
  select collection_id, record_id from system.deleted_versions
  where updated_at < ${nowSec} - ${keptSec} for update skip locked
) old where d.collection_id = old.collection_id and d.record_id = old.record_id`,
  values: [],
};
