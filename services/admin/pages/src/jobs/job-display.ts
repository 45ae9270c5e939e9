import type { Job } from '@recordbus/client';
import { durationText } from '../ui/times.ts';

/** Whether a job has not finished. */
export const isOpen = ({ state }: Job): boolean => state === 'queued' || state === 'running' || state === 'paused';

/** Only imports are paused, resumed and cancelled, and have rows. */
export const isImport = ({ kind }: Job): boolean => kind === 'import';

/** Returns how much of a job is read, from 0 to 1. Undefined while its total is unknown, and for jobs without rows. */
export const partDone = (job: Job): number | undefined =>
  isImport(job) && job.rows.total > 0 ? Math.min(1, job.rows.read / job.rows.total) : undefined;

const count = (value: number): string => value.toLocaleString('en');

/** Describes a job's progress. */
export function progressText(job: Job): string {
  const { rows, rate, eta_s, state } = job;
  if (!isImport(job)) return rows.total > 0 ? `${count(rows.total)} record${rows.total === 1 ? '' : 's'}` : '';
  const parts = [`${count(rows.read)} of ${count(rows.total)} rows`];
  if (state === 'running' && rate) parts.push(`${count(Math.round(rate))}/s`);
  if (state === 'running' && eta_s) parts.push(`${durationText(eta_s * 1000)} left`);
  return parts.join(' · ');
}

/** Whether a job is a dry run. */
export const isDryRun = ({ options }: Job): boolean =>
  options.dry_run === true || options.dry_run === '1' || options.dry_run === 1;

/** Names a job. */
export function jobTitle(job: Job): string {
  const { kind, collection } = job;
  if (kind === 'erase') return `${isDryRun(job) ? 'Dry run of an erasure' : 'Erasure'} in ${collection}`;
  if (kind === 'export') return `Export of a user's data in ${collection}`;
  return `${isDryRun(job) ? 'Dry run' : 'Import'} into ${collection}`;
}
