export { autodates, newValue, nextValue } from './autodate-sql.ts';
export { answerOf, selectChange, selectRecord } from './changed-sql.ts';
export { composeWrite, lockedRow, lockedWhere, type WriteStatement } from './compose-write.ts';
export { type Cte, withCtes } from './cte.ts';
export { dropDeletedVersions, insertDeletedVersions, selectDeletedVersion } from './deleted-version-sql.ts';
export { historyTableOf, planHistoryTable } from './history-table.ts';
export {
  type BatchPlace,
  type Origin,
  type OriginParameters,
  originOf,
  textOfPlace,
  type WriteContext,
} from './origin.ts';
export { putEvent } from './put-event.ts';
export { rewriteStored } from './rewrite-stored.ts';
export { selectLikeSnapshot, selectSnapshots, snapshotFields } from './snapshot-sql.ts';
export { type AfterCommit, runUnit, type UnitOfWork } from './unit-of-work.ts';
export { nextRevision, nextUpdatedAt, nextVersionOf, nowSec, versionOf } from './version-sql.ts';
export type { ColumnSql, DraftCheck } from './write-rows.ts';
