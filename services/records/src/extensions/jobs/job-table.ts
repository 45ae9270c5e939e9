import { queueTable } from '@recordbus/queue';

/** The queue of extensions' jobs. */
export const jobTable = queueTable({ table: 'system.extension_jobs', key: 'id' });

/** How long a replica holds a job after its last renewal, in seconds. */
export const leaseSec = 15;
/** How often it renews a job, in milliseconds. */
export const renewMs = 5000;

/** A job's replica, by its fence. */
export interface HeldJob {
  readonly id: string;
  readonly lease_token: string;
}

/** SQL: whether the job $1 is still held under the fence $2. A cancelled one is not. */
export const isHeld = `${jobTable.isHeld} and state = 'running'`;
