export { selectChange, selectRecord } from './changed-sql.ts';
export { insertEvents, nextUpdatedAt, nowSec, originValues, type Verb } from './event-sql.ts';
