import type pg from 'pg';
import { type Finding, fine, warning } from './finding.ts';

const subject = 'jobs';

/** A job begins within seconds, and the replica that works on it reports every few seconds. */
const lateSec = 120;

interface JobsRow {
  readonly unfinished: number;
  readonly paused: number;
  /** Jobs that wait for a long time while no replica works on any. */
  readonly stuck: number;
  readonly failing: number;
}

/** Examines whether jobs make progress (import §7.4). */
export async function examineJobs(client: pg.Client): Promise<Finding[]> {
  const late = `now() - interval '${lateSec} seconds'`;
  const { rows } = await client.query<JobsRow>(`
    select count(*) filter (where state in ('queued', 'running'))::int as unfinished,
      count(*) filter (where state = 'paused')::int as paused,
      count(*) filter (where failures > 0 and state = 'running')::int as failing,
      case when count(*) filter (where state = 'running' and lease_until > ${late}) > 0 then 0
        else count(*) filter (where state in ('queued', 'running') and coalesce(lease_until, created_at) < ${late})
      end::int as stuck
    from system.jobs where finished_at is null`);
  const { unfinished = 0, paused = 0, stuck = 0, failing = 0 } = rows[0] ?? {};
  if (stuck > 0)
    return [
      warning(
        subject,
        `${stuck} stuck: no replica is working on them`,
        'Start the records service. If it runs, its log has the reason.',
      ),
    ];
  if (failing > 0)
    return [warning(subject, `${failing} failing, with retries`, 'The records service log has the reason.')];
  return [fine(subject, `${unfinished} unfinished, ${paused} paused`)];
}
