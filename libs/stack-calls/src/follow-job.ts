import { setTimeout } from 'node:timers/promises';
import { AppError } from '@recordbus/errors';
import { callApi } from './call-api.ts';
import { CommandFailure } from './failure.ts';
import type { Progress } from './progress.ts';
import type { ApiAddress } from './send-request.ts';
import { isBusy } from './when-free.ts';

/** An import job, as the API shows it (import §7.1). */
export interface ImportJob {
  readonly id: string;
  readonly state: 'queued' | 'running' | 'paused' | 'done' | 'failed' | 'cancelled';
  readonly rows: Readonly<Record<'total' | 'read' | 'done' | 'skipped' | 'refused' | 'waiting', number>>;
  readonly rate: number | null;
  readonly eta_s: number | null;
  readonly error: { readonly message: string; readonly row?: number } | null;
}

const pollMs = 500;

/** How long a stack may be unreachable while a command follows a job, in milliseconds. */
const patienceMs = 300_000;

/** Reads a job. */
export const readJob = async (address: ApiAddress, id: string): Promise<ImportJob> =>
  (await callApi(address, 'GET', `/api/v1/jobs/${encodeURIComponent(id)}`)) as ImportJob;

/** Sends a command to a job. Returns undefined when its state does not allow it. */
export async function commandJob(
  address: ApiAddress,
  id: string,
  command: 'pause' | 'resume' | 'cancel',
): Promise<ImportJob | undefined> {
  try {
    return (await callApi(address, 'POST', `/api/v1/jobs/${encodeURIComponent(id)}/${command}`)) as ImportJob;
  } catch (error) {
    if (error instanceof AppError && error.status === 409) return undefined;
    throw error;
  }
}

/** Whether a job has ended. */
export const isEnded = ({ state }: ImportJob): boolean =>
  state === 'done' || state === 'failed' || state === 'cancelled';

/** Follows a job to its end, even if the stack is unreachable for some minutes. */
export async function followJob(address: ApiAddress, id: string, progress: Progress): Promise<ImportJob> {
  let lastSeenMs = performance.now();
  for (;;) {
    try {
      const job = await readJob(address, id);
      if (isEnded(job)) return job;
      lastSeenMs = performance.now();
      progress.show(describe(job), job.rows.total === 0 ? undefined : job.rows.read / job.rows.total);
    } catch (error) {
      const mayReturn = isBusy(error) || error instanceof CommandFailure;
      if (!mayReturn || performance.now() - lastSeenMs > patienceMs) throw error;
      progress.show('waiting for the stack to answer');
    }
    await setTimeout(pollMs);
  }
}

function describe({ state, rows, rate, eta_s }: ImportJob): string {
  const parts = [`${rows.read} of ${rows.total} rows`];
  if (rows.refused > 0) parts.push(`${rows.refused} refused`);
  if (rows.waiting > 0) parts.push(`${rows.waiting} waiting for their targets`);
  if (rate !== null) parts.push(`${Math.round(rate)} rows/s`);
  if (eta_s !== null) parts.push(`${eta_s} s left`);
  if (state !== 'running') parts.push(state);
  return parts.join(', ');
}
