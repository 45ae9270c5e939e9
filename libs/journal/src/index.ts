export { autodateAssignments, newValue, nextValue } from './autodate-sql.ts';
export { answerOf, selectChange, selectRecord } from './changed-sql.ts';
export { type Cte, composeWrite, lockedRow, type WriteStatement, withCtes } from './compose-write.ts';
export { historyTableOf, planHistoryTable } from './history-table.ts';
export { type Origin, type OriginParameters, originOf } from './origin.ts';
export { putEvent } from './put-event.ts';
export { rewriteStored } from './rewrite-stored.ts';
export { selectLikeSnapshot, selectSnapshots, snapshotFields } from './snapshot-sql.ts';
export { nextRevision, nextUpdatedAt, nextVersionOf, nowSec, versionAssignments, versionOf } from './version-sql.ts';
