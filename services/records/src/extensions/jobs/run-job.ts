import type { ValueCipher } from '@recordbus/crypto';
import type { Database } from '@recordbus/database';
import { AppError } from '@recordbus/errors';
import type {
  AnswerAsk,
  CallTarget,
  ExtensionHost,
  JobDescription,
  JobRunInput,
  MailInput,
} from '@recordbus/extension-host';
import type { Logger } from '@recordbus/process/logging';
import { acceptTraceparent } from '@recordbus/process/telemetry';
import { doubling, LostLease, listed, underLease } from '@recordbus/queue';
import { z } from 'zod';
import type { RunWrite } from '../../write/write-unit.ts';
import { principalOfExtension, rootScope } from '../call-scope.ts';
import type { WithTransactions } from '../call-transactions.ts';
import { errorTextOf } from '../error-text.ts';
import { tool } from '../tools/tool.ts';
import type { ClaimedJob } from './claim-jobs.ts';
import { buryJob, finishJob, type Progress, renewJob, returnJob } from './end-job.ts';
import type { JobMetrics } from './job-metrics.ts';
import { renewMs } from './job-table.ts';
import { readMailInput } from './stored-mail.ts';

export interface RunJobDeps {
  readonly host: Pick<ExtensionHost, 'callJob'>;
  readonly withTransactions: WithTransactions;
  /** Connections for background work. */
  readonly database: Pick<Database, 'query'>;
  /** The same connections, for writes with events. */
  readonly write: RunWrite;
  /** Decrypts mails that came in. */
  readonly cipher: Pick<ValueCipher, 'decrypt'>;
  readonly metrics: JobMetrics;
  readonly log: Logger;
}

/** How long a claimed job waits for a worker that starts, in milliseconds. */
const startMs = 60_000;
/** The wait before another attempt when no worker could begin the job. */
const notBegunSec = 5;
/** After so many attempts whose process ended, a job is dead. */
const maxLosses = 10;
const firstBackoffSec = 2;
const maxBackoffSec = 3600;
/** How often progress is stored between renewals at most, in milliseconds. */
const progressMs = 1000;

/** Runs a claimed job and records how it ends. Never rejects. */
export async function runJob(
  deps: RunJobDeps,
  extension: string,
  declared: JobDescription,
  job: ClaimedJob,
  ending: AbortSignal,
): Promise<void> {
  const facts = { job: `${extension}.${job.name}`, id: job.id };
  const startedMs = performance.now();
  try {
    const result = await attempt(deps, extension, declared, job, ending);
    deps.metrics.attempts.inc({ job: facts.job, result });
    deps.metrics.duration.observe({ job: facts.job }, (performance.now() - startedMs) / 1000);
    if (result !== 'done') deps.log.info({ ...facts, result }, "a job's attempt has ended");
  } catch (error) {
    // Its lease expires, and a replica takes it again.
    deps.log.warn({ ...facts, err: error }, "cannot record a job's end");
  }
}

/** How an attempt ends. `lost`: cancelled, or another replica has the job. `returned`: it counts for nothing. */
type Result = 'done' | 'failed' | 'dead' | 'lost' | 'returned';

async function attempt(
  deps: RunJobDeps,
  extension: string,
  declared: JobDescription,
  job: ClaimedJob,
  ending: AbortSignal,
): Promise<Result> {
  const { query } = deps.database;
  if (job.losses >= maxLosses) return bury(deps, job, `its process ended ${job.losses} times`, false);
  const progress = createProgress((last) => renewJob(query, job, last));
  let hasBegun = false;
  let isLost = false;
  try {
    await underLease({ renewMs, renew: () => renewJob(query, job, progress.last()), ending }, async (signal) => {
      signal.addEventListener('abort', () => {
        isLost = signal.reason instanceof LostLease;
      });
      await callJob(deps, extension, declared, job, { signal, progress, onBegun: () => (hasBegun = true) });
    });
  } catch (error) {
    if (isLost) return 'lost';
    if (ending.aborted || !hasBegun) {
      await returnJob(query, job, { waitSec: ending.aborted ? 0 : notBegunSec, error: undefined });
      return 'returned';
    }
    return fail(deps, declared, job, error);
  }
  if (isLost) return 'lost';
  await finishJob(query, job);
  return 'done';
}

interface AttemptCall {
  readonly signal: AbortSignal;
  readonly progress: ReportedProgress;
  onBegun(): void;
}

async function callJob(
  deps: RunJobDeps,
  extension: string,
  declared: JobDescription,
  job: ClaimedJob,
  { signal, progress, onBegun }: AttemptCall,
): Promise<void> {
  const context = {
    requestId: job.request_id ?? job.id,
    traceparent: acceptTraceparent(job.traceparent ?? undefined),
    principal: principalOfExtension(extension),
    clientAddress: '',
  };
  const scope = rootScope(context);
  const { target, input } = await workOf(deps, declared, job).catch((error: unknown) => {
    onBegun();
    throw error;
  });
  const withProgress =
    (answer: AnswerAsk): AnswerAsk =>
    (method, args, worker) =>
      method === 'job.progress'
        ? progress.tool({ extension, scope, worker, method }, args)
        : answer(method, args, worker);
  await deps.withTransactions(extension, scope, (answer) =>
    deps.host.callJob(extension, {
      target,
      input,
      timeoutMs: declared.timeoutMs,
      waitMs: startMs,
      signal,
      onBegun,
      answer: withProgress(answer),
    }),
  );
}

/** Returns what the attempt calls, and what with. */
async function workOf(
  { database, cipher }: RunJobDeps,
  { takesMails }: JobDescription,
  job: ClaimedJob,
): Promise<{ readonly target: CallTarget; readonly input: JobRunInput | MailInput }> {
  const attempt = job.failures + job.losses + 1;
  if (takesMails)
    return { target: { kind: 'mail' }, input: await readMailInput(database.query, cipher, { ...job, attempt }) };
  const input = { id: job.id, key: job.key ?? undefined, attempt, input: job.input };
  return { target: { kind: 'job', name: job.name }, input };
}

/** Notes a failed attempt: another one follows unless it was the last, or no other could succeed. */
async function fail(deps: RunJobDeps, { retry }: JobDescription, job: ClaimedJob, error: unknown): Promise<Result> {
  const text = errorTextOf(error).slice(0, 2000);
  const failures = job.failures + 1;
  const isHopeless = error instanceof AppError && error.code === 'invalid_job_input';
  if (isHopeless || failures > retry.max) return bury(deps, job, text, true);
  await returnJob(deps.database.query, job, { waitSec: backoffSec(retry.backoff, failures), error: text });
  return 'failed';
}

async function bury({ write, log }: RunJobDeps, job: ClaimedJob, error: string, isFailure: boolean): Promise<Result> {
  await write({ mode: 'transaction' }, async (unit) => {
    await buryJob(unit.query, job, { error, isFailure });
    unit.due.add('wakeRelay');
  });
  log.warn({ job: job.name, id: job.id, reason: error }, 'a job is dead');
  return 'dead';
}

/** The wait before a retry, in seconds. */
export function backoffSec(backoff: JobDescription['retry']['backoff'], failures: number): number {
  if (backoff === 'exponential') return doubling(failures, firstBackoffSec, maxBackoffSec);
  return listed(failures, typeof backoff === 'number' ? [backoff] : backoff);
}

/** What an attempt has reported. */
interface ReportedProgress {
  last(): Progress | undefined;
  readonly tool: ReturnType<typeof tool>;
}

const progressArguments = z.tuple([z.number().min(0).max(100), z.string().max(200).optional()]);

/** Creates a job's progress. It is stored at most once a second, and the last one with the next renewal. */
function createProgress(store: (progress: Progress) => Promise<unknown>): ReportedProgress {
  let last: Progress | undefined;
  let storedMs = Number.NEGATIVE_INFINITY;
  return {
    last: () => last,
    tool: tool(progressArguments, async (_call, [percent, message]) => {
      last = { percent, message: message?.toWellFormed().replaceAll('\0', '') };
      if (performance.now() - storedMs < progressMs) return;
      storedMs = performance.now();
      await store(last);
    }),
  };
}
