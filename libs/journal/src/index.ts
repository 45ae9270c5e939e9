export { autodateAssignments, newValue, nextValue } from './autodate-sql.ts';
export { answerOf, selectChange, selectRecord } from './changed-sql.ts';
export { insertEvents, nextUpdatedAt, nowSec, originValues } from './event-sql.ts';
export { withHistory } from './history-sql.ts';
export { historyTableOf, planHistoryTable } from './history-table.ts';
export { putEvent } from './put-event.ts';
export { rewriteStored } from './rewrite-stored.ts';
export { selectLikeSnapshot, selectSnapshots, snapshotFields } from './snapshot-sql.ts';
