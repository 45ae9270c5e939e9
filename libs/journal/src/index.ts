export { autodateAssignments, newValue, nextValue } from './autodate-sql.ts';
export { answerOf, selectChange, selectRecord } from './changed-sql.ts';
export { insertEvents, nextUpdatedAt, nowSec, originValues, type Verb } from './event-sql.ts';
export { withHistory } from './history-sql.ts';
export { historyTableOf, planHistoryTable } from './history-table.ts';
export { putEvent, type SingleEvent } from './put-event.ts';
export { type Rewrite, rewriteStored } from './rewrite-stored.ts';
export { selectLikeSnapshot, selectSnapshots, snapshotFields } from './snapshot-sql.ts';
