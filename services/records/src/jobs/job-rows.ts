import type { Query } from '@recordbus/database';

/** A row of a job's body that is refused or waits, with the reasons or the missing targets. */
export interface JobRow {
  readonly row: number;
  readonly state: 'refused' | 'waiting' | 'incomplete';
  /** Its record's id, if the body has it or the record exists. */
  readonly recordId: string | undefined;
  /** Messages by field, for a refused row; the fields whose targets are missing, for another one. */
  readonly details: Readonly<Record<string, string>>;
}

/** Stores a job's rows. A stored row gets its new state. */
export async function noteRows(query: Query, jobId: string, rows: readonly JobRow[]): Promise<void> {
  if (rows.length === 0) return;
  await query({
    text: `insert into system.job_rows (job_id, row, state, record_id, details)
      select $1, u.row, u.state, u.record_id, u.details::jsonb
      from unnest($2::bigint[], $3::text[], $4::text[], $5::text[]) u(row, state, record_id, details)
      on conflict (job_id, row) do update
        set state = excluded.state, record_id = excluded.record_id, details = excluded.details`,
    values: [
      jobId,
      rows.map(({ row }) => row),
      rows.map(({ state }) => state),
      rows.map(({ recordId }) => recordId ?? null),
      rows.map(({ details }) => JSON.stringify(details).replaceAll('\\u0000', '')),
    ],
  });
}

/** Removes rows that have been imported in the meantime. */
export async function dropRows(query: Query, jobId: string, rows: readonly number[]): Promise<void> {
  if (rows.length === 0) return;
  await query({
    text: 'delete from system.job_rows where job_id = $1 and row = any($2::bigint[])',
    values: [jobId, rows],
  });
}

interface StoredRow {
  readonly row: number;
  readonly state: JobRow['state'];
  readonly record_id: string | null;
  readonly details: JobRow['details'];
}

const toRow = ({ row, state, record_id, details }: StoredRow): JobRow => ({
  row,
  state,
  recordId: record_id ?? undefined,
  details,
});

/** Lists the next rows that wait, in order. */
export async function listUnfinished(query: Query, jobId: string, after: number, limit: number): Promise<JobRow[]> {
  const rows = await query<StoredRow>({
    text: `select row, state, record_id, details from system.job_rows
      where job_id = $1 and row > $2 and state <> 'refused' order by row limit $3`,
    values: [jobId, after, limit],
  });
  return rows.map(toRow);
}

/** Lists the next refused rows, in order. */
export async function listRefused(query: Query, jobId: string, after: number, limit: number): Promise<JobRow[]> {
  const rows = await query<StoredRow>({
    text: `select row, state, record_id, details from system.job_rows
      where job_id = $1 and row > $2 and state = 'refused' order by row limit $3`,
    values: [jobId, after, limit],
  });
  return rows.map(toRow);
}

/** Returns which of these record ids have rows that wait to be written. */
export async function findWaitingIds(query: Query, jobId: string, ids: readonly string[]): Promise<Set<string>> {
  const rows = await query<{ record_id: string }>({
    text: `select distinct record_id from system.job_rows
      where job_id = $1 and state = 'waiting' and record_id = any($2::text[])`,
    values: [jobId, ids],
  });
  return new Set(rows.map(({ record_id }) => record_id));
}

/** Refuses the rows that still wait, with a message by state. Returns how many there were. */
export async function refuseUnfinished(
  query: Query,
  jobId: string,
  messages: Readonly<Record<'waiting' | 'incomplete', string>>,
): Promise<number> {
  const rows = await query({
    text: `update system.job_rows r set state = 'refused', details = (
        select jsonb_object_agg(d.key, case r.state when 'waiting' then $2::text else $3 end) from jsonb_each_text(r.details) d
      ) where job_id = $1 and state <> 'refused' returning 1`,
    values: [jobId, messages.waiting, messages.incomplete],
  });
  return rows.length;
}
