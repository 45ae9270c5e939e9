export { doubling, listed } from './backoff.ts';
export { countRows } from './count-rows.ts';
export { isFree, leaseEnd } from './lease-sql.ts';
export { type QueueTable, queueTable } from './queue-table.ts';
export { createQueueWorker, type QueueWorker } from './queue-worker.ts';
export { LostLease, underLease } from './under-lease.ts';
