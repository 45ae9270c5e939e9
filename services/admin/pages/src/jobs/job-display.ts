import type { Job } from '@recordbus/client';
import { durationText } from '../ui/times.ts';

/** Whether a job has not finished. */
export const isOpen = ({ state }: Job): boolean => state === 'queued' || state === 'running' || state === 'paused';

/** Returns how much of a job is read, from 0 to 1. Undefined while its total is unknown. */
export const partDone = ({ rows }: Job): number | undefined =>
  rows.total > 0 ? Math.min(1, rows.read / rows.total) : undefined;

const count = (value: number): string => value.toLocaleString('en');

/** Describes a job's progress. */
export function progressText({ rows, rate, eta_s, state }: Job): string {
  const parts = [`${count(rows.read)} of ${count(rows.total)} rows`];
  if (state === 'running' && rate) parts.push(`${count(Math.round(rate))}/s`);
  if (state === 'running' && eta_s) parts.push(`${durationText(eta_s * 1000)} left`);
  return parts.join(' · ');
}

/** Whether a job is a dry run. */
export const isDryRun = ({ options }: Job): boolean =>
  options.dry_run === true || options.dry_run === '1' || options.dry_run === 1;
