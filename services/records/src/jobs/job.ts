import type { Principal } from '@recordbus/request/context';
import { z } from 'zod';
import { certificate } from './certificate.ts';

export const jobStates = ['queued', 'running', 'paused', 'done', 'failed', 'cancelled'] as const;
export type JobState = (typeof jobStates)[number];

/** Why a job failed. `row` and `column` are set if its body is the cause. */
export interface JobError {
  readonly message: string;
  readonly row?: number;
  readonly column?: number;
}

/** The caller who started a job. Its writes have this actor. */
export type JobActor = Extract<Principal, { type: 'admin' | 'service' }>;

/** The request that started a job, for its writes and their events. */
export interface JobRequest {
  readonly requestId: string;
  readonly traceparent: string;
  readonly clientAddress: string;
}

/** A stored job. */
export interface Job<Options = unknown> {
  readonly id: string;
  readonly kind: 'import';
  readonly state: JobState;
  readonly collection_id: string;
  readonly collection_name: string;
  readonly actor: JobActor;
  readonly request: JobRequest;
  readonly options: Options;
  /** The body's id in the store: the id of the job that uploaded it. */
  readonly body_id: string;
  readonly body_bytes: number;
  /** The current pass's number over the body, from 1. */
  readonly pass: number;
  /** The current pass's progress: bytes into the body, and the last row's number. */
  readonly position: number;
  readonly last_row: number;
  readonly rows_total: number;
  readonly rows_read: number;
  readonly rows_done: number;
  readonly rows_skipped: number;
  readonly rows_refused: number;
  /** Rows that later passes import or refuse. */
  readonly rows_waiting: number;
  /** How many such rows there were when the current pass began. */
  readonly pass_began_waiting: number;
  readonly error: JobError | null;
  /** Failed attempts since the last progress. */
  readonly failures: number;
  readonly fence: number;
  /** How long it has been worked on, in milliseconds. */
  readonly active_ms: number;
  /** Unix seconds. */
  readonly created_at: number;
  readonly started_at: number | null;
  readonly finished_at: number | null;
}

const seconds = z.int().describe('unix seconds');

/** A job in answers. */
export const shownJob = z
  .object({
    id: z.uuid(),
    kind: z.enum(['import', 'erase', 'export']),
    state: z.enum(jobStates),
    collection: z.string(),
    owner: z.object({ type: z.string(), id: z.string().nullable() }).describe('who asked for it'),
    options: z.record(z.string(), z.unknown()),
    rows: z.object({
      total: z.int(),
      read: z.int(),
      done: z.int(),
      skipped: z.int().describe('records that were there, with mode=skip'),
      refused: z.int(),
      waiting: z.int().describe('rows whose targets come later'),
    }),
    bytes: z.int().describe("the body's size in UTF-8"),
    rate: z.number().nullable().describe('rows per second so far'),
    eta_s: z.int().nullable().describe('seconds until every row is read, at this rate'),
    error: z
      .object({ message: z.string(), row: z.int().optional(), column: z.int().optional() })
      .nullable()
      .describe('why it failed'),
    created: seconds,
    started: seconds.nullable(),
    finished: seconds.nullable(),
    archive: z
      .object({ bytes: z.int(), files: z.int(), until: seconds.describe('when it goes, in unix seconds') })
      .nullable()
      .optional()
      .describe("an export's, once it is done"),
    certificate: certificate.nullable().optional().describe("an erasure's outcome, once it is done"),
  })
  .meta({ id: 'Job' });

/** Returns a job for an answer. `shownOptions` are its request's options. */
export function showJob(job: Job, shownOptions: Readonly<Record<string, unknown>>): z.output<typeof shownJob> {
  const rate = job.active_ms > 0 && job.rows_read > 0 ? job.rows_read / (job.active_ms / 1000) : null;
  const isUnfinished = job.finished_at === null;
  return {
    id: job.id,
    kind: job.kind,
    state: job.state,
    collection: job.collection_name,
    owner: { type: job.actor.type, id: job.actor.id },
    options: shownOptions,
    rows: {
      total: job.rows_total,
      read: job.rows_read,
      done: job.rows_done,
      skipped: job.rows_skipped,
      refused: job.rows_refused,
      waiting: job.rows_waiting,
    },
    bytes: job.body_bytes,
    rate: rate && Math.round(rate * 10) / 10,
    eta_s: isUnfinished && rate ? Math.ceil((job.rows_total - job.rows_read) / rate) : null,
    error: job.error,
    created: job.created_at,
    started: job.started_at,
    finished: job.finished_at,
  };
}
