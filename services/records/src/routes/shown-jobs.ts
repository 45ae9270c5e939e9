import type { Query } from '@recordbus/database';
import type { Principal } from '@recordbus/request/context';
import type { z } from 'zod';
import type { DataJob } from '../data-jobs/data-job.ts';
import { findDataJob, findDataJobs } from '../data-jobs/data-job-store.ts';
import { type ErasureJob, showErasure } from '../erasure/erasure.ts';
import type { Job, JobState, shownJob } from '../jobs/job.ts';
import { findJobs } from '../jobs/job-store.ts';
import { type OwnDataJob, showOwnData } from '../own-data/own-data.ts';
import type { ImportOptions } from '../transfer/import/import-options.ts';
import { showImport } from '../transfer/import/start-import.ts';

type ShownJob = z.output<typeof shownJob>;

const showData = (job: DataJob): ShownJob =>
  job.kind === 'export' ? showOwnData(job as OwnDataJob) : showErasure(job as ErasureJob);

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Finds a user's export of their own data; undefined for the jobs of others. */
export async function findOwnJob(query: Query, id: string, principal: Principal): Promise<OwnDataJob | undefined> {
  if (principal.type !== 'user' || !uuid.test(id)) return undefined;
  const job = await findDataJob(query, id);
  const isOwn = job?.kind === 'export' && job.record_id === principal.id && job.actor.type === 'user';
  if (!isOwn) return undefined;
  const rows = await query({
    text: 'select from system.collections where id = $1 and name = $2',
    values: [job.collection_id, principal.collection],
  });
  return rows.length > 0 ? (job as OwnDataJob) : undefined;
}

/** Finds an erasure's job for an answer. */
export async function findShownDataJob(query: Query, id: string): Promise<ShownJob | undefined> {
  const job = await findDataJob(query, id);
  return job && showData(job);
}

interface ShownPage {
  readonly page: number;
  readonly perPage: number;
  readonly state: JobState | undefined;
  readonly collection: string | undefined;
  /** Only jobs for these collections; all if undefined. */
  readonly collections: readonly string[] | undefined;
  /** Whether the caller sees erasures too. */
  readonly hasDataJobs: boolean;
}

/** Reads a page of jobs of all kinds, newest first, and how many there are. */
export async function listShownJobs(
  query: Query,
  { page, perPage, state, collection, collections, hasDataJobs }: ShownPage,
): Promise<{ rows: ShownJob[]; totalItems: number }> {
  const of = (table: string) => `select id, created_at from ${table}
    where ($1::text is null or state = $1) and ($2::text is null or collection_name = $2)
      and ($3::text[] is null or collection_name = any($3))`;
  const all = hasDataJobs ? `${of('system.jobs')} union all ${of('system.data_jobs')}` : of('system.jobs');
  const filter = [state ?? null, collection ?? null, collections ?? null];
  const listed = await query<{ id: string }>({
    text: `select id from (${all}) j order by created_at desc, id desc limit $4 offset $5`,
    values: [...filter, perPage, Math.min((page - 1) * perPage, Number.MAX_SAFE_INTEGER)],
  });
  const [count] = await query<{ total: number }>({ text: `select count(*) as total from (${all}) j`, values: filter });
  const ids = listed.map(({ id }) => id);
  const imports = (await findJobs(query, ids)).map((job) => showImport(job as Job<ImportOptions>));
  const shown = new Map([...imports, ...(await findDataJobs(query, ids)).map(showData)].map((job) => [job.id, job]));
  return { rows: ids.flatMap((id) => shown.get(id) ?? []), totalItems: count?.total ?? 0 };
}
