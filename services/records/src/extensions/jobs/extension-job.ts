import { z } from 'zod';

export const extensionJobStates = ['pending', 'running', 'done', 'dead', 'cancelled'] as const;
export type ExtensionJobState = (typeof extensionJobStates)[number];

const seconds = z.number().describe('unix seconds');

/** An extension's job, as admins get it in lists (extensions §8.6). */
export const extensionJob = z
  .object({
    id: z.uuid(),
    name: z.string().describe('`<extension>.<name>`'),
    extension: z.string(),
    state: z.enum(extensionJobStates),
    key: z.string().nullable(),
    priority: z.int(),
    attempt: z.int().describe('attempts begun so far'),
    progress: z
      .object({ percent: z.number(), message: z.string().nullable() })
      .nullable()
      .describe('what the last attempt reported'),
    error: z.string().nullable().describe("the last failed attempt's"),
    due: seconds,
    created: seconds,
    started: seconds.nullable(),
    finished: seconds.nullable(),
    request_id: z.string().nullable().describe("the causing request's X-Request-Id"),
  })
  .meta({ id: 'ExtensionJob' });

export type ExtensionJob = z.output<typeof extensionJob>;

/** A job with its input. */
export const extensionJobDetails = extensionJob.extend({ input: z.unknown() }).meta({ id: 'ExtensionJobDetails' });

/** SQL: the columns of an `ExtensionJob` from a row `q`. */
export const shownColumns = `q.id, q.extension || '.' || q.name as name, q.extension, q.state, q.key, q.priority,
  q.failures + q.losses + (q.state in ('running', 'done'))::int as attempt,
  case when q.progress is not null
    then jsonb_build_object('percent', q.progress, 'message', q.progress_message) end as progress,
  q.error, floor(extract(epoch from q.due_at))::bigint as due, floor(extract(epoch from q.created_at))::bigint as created,
  floor(extract(epoch from q.started_at))::bigint as started, floor(extract(epoch from q.finished_at))::bigint as finished, q.request_id`;
