export { autodateAssignments, newValue, nextValue } from './autodate-sql.ts';
export { answerOf, selectChange, selectRecord } from './changed-sql.ts';
export { type Cte, composeWrite, lockedRow, lockedWhere, type WriteStatement, withCtes } from './compose-write.ts';
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
export { nextRevision, nextUpdatedAt, nextVersionOf, nowSec, versionAssignments, versionOf } from './version-sql.ts';
