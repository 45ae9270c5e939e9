import { messageOf } from '@recordbus/errors';
import type { Extension, Route } from '@recordbus/extensions';
import { z } from '@recordbus/extensions';
import { fixedScopes } from '@recordbus/request/scope';
import { Cron } from 'croner';
import {
  type AfterPoint,
  afterPoints,
  type BeforePoint,
  beforePoints,
  type CronDescription,
  type ExtensionDescription,
  type JobDescription,
  mailJob,
  type RouteDescription,
} from '../description.ts';
import { anySchema } from './any-schema.ts';
import { event } from './describe-event.ts';

/** Call limits and defaults, in milliseconds. */
const routeTimeoutMs = 10_000;
const maxRouteTimeoutMs = 55_000;
const cronTimeoutMs = 60_000;
const maxCronTimeoutMs = 3_600_000;
/** Jobs' limits and defaults: seconds, and retries. */
const jobTimeoutSec = 60;
const maxJobTimeoutSec = 3600;
const jobRetries = 10;
const maxJobRetries = 100;
/** Retries of a mail that came in: for about a day. */
const mailRetries = 30;

const code = z.custom<unknown>((value) => typeof value === 'function', 'must be a function');
const collectionName = z
  .string()
  .regex(/^(\*|[A-Za-z][A-Za-z0-9_]{0,62})$/, 'must be a collection name, or * for every one');

const points: readonly (BeforePoint | AfterPoint)[] = [...beforePoints, ...afterPoints];
const hooks = z.strictObject(Object.fromEntries(points.map((point) => [point, code.optional()])));
const signIn = z.strictObject({ before: code.optional(), after: code.optional() });

const route = z
  .strictObject({
    method: z.enum(['GET', 'POST', 'PATCH', 'PUT', 'DELETE']),
    path: z.string().regex(/^(\/([\w.~-]+|:[A-Za-z]\w*))+$/, 'must look like /orders/:id; it begins below /api/x'),
    access: z.enum(['public', 'session', 'user', 'admin']).default('admin'),
    scope: z.enum(['any', 'none', ...fixedScopes]).default('admin'),
    rule: z.string().min(1).optional(),
    action: z.enum(['auth', 'create', 'list', 'view', 'update', 'delete']).optional(),
    summary: z.string().max(200).default(''),
    params: anySchema.optional(),
    query: anySchema.optional(),
    body: anySchema.optional(),
    answer: anySchema.optional(),
    idempotent: z.boolean().default(false),
    timeoutMs: z.int().min(1).max(maxRouteTimeoutMs).default(routeTimeoutMs),
    handler: code,
  })
  .refine(({ method, idempotent }) => !idempotent || method === 'POST', {
    path: ['idempotent'],
    message: 'is for POST',
  });

const ownName = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must have 1 to 64 letters, digits, _ and -');

const cron = z
  .strictObject({
    name: ownName,
    schedule: z.string(),
    timeZone: z.string().default('UTC'),
    missed: z.enum(['skip', 'run once']).default('skip'),
    timeoutMs: z.int().min(1).max(maxCronTimeoutMs).default(cronTimeoutMs),
    handler: code,
  })
  .superRefine(({ schedule, timeZone }, context) => {
    const problem = findScheduleProblem(schedule, timeZone);
    if (problem) context.addIssue({ code: 'custom', path: ['schedule'], message: problem });
  });

const backoffSec = z.number().min(0).max(86_400);

const job = z.strictObject({
  input: anySchema,
  concurrency: z.int().min(1).max(1000).nullable().default(null),
  retry: z
    .strictObject({
      max: z.int().min(0).max(maxJobRetries).default(jobRetries),
      backoff: z
        .union(
          [z.literal('exponential'), backoffSec, z.array(backoffSec).min(1).max(100)],
          'must be exponential or seconds',
        )
        .default('exponential'),
    })
    .prefault({}),
  timeout_s: z.number().min(0.1).max(maxJobTimeoutSec).default(jobTimeoutSec),
  key: code.optional(),
  handler: code,
});

const declaration = z.strictObject({
  hooks: z.record(collectionName, hooks).default({}),
  signIn: z.record(collectionName, signIn).default({}),
  routes: z.array(route).default([]),
  crons: z.array(cron).default([]),
  events: z.array(event).max(200).default([]),
  jobs: z.record(ownName, job).default({}),
  onMail: code.optional(),
});

/**
 * Finds the declaration that a module exports as `extension`, and converts it to data. Throws an Error that describes
 * what is wrong with it.
 */
export function describeExtension(module: unknown): { extension: Extension; description: ExtensionDescription } {
  const exported =
    typeof module === 'object' && module !== null && 'extension' in module ? module.extension : undefined;
  if (exported === undefined)
    throw new Error('the file exports no `extension`: export const extension = defineExtension({ … })');
  const result = declaration.safeParse(exported);
  if (!result.success) throw new Error(`the declaration is wrong: ${z.prettifyError(result.error)}`);
  const { data } = result;
  refuseTwice('cron', data.crons);
  refuseTwice('event', data.events);
  if (data.onMail && Object.hasOwn(data.jobs, mailJob))
    throw new Error(`the job ${mailJob} has the name of the mail hook`);
  return {
    extension: exported as Extension,
    description: {
      hooks: Object.entries(data.hooks).flatMap(([collection, declared]) =>
        points.filter((point) => declared[point]).map((point) => ({ collection, point })),
      ),
      signIn: Object.entries(data.signIn).flatMap(([collection, declared]) =>
        (['before', 'after'] as const).filter((point) => declared[point]).map((point) => ({ collection, point })),
      ),
      routes: data.routes.map(describeRoute),
      crons: data.crons.map(({ handler, ...rest }): CronDescription => rest),
      events: data.events,
      jobs: [...Object.entries(data.jobs).map(describeJob), ...(data.onMail ? [mailHook] : [])],
    },
  };
}

const describeJob = ([name, { concurrency, retry, timeout_s }]: [string, z.output<typeof job>]): JobDescription => ({
  name,
  concurrency,
  retry,
  timeoutMs: timeout_s * 1000,
  takesMails: false,
});

const mailHook: JobDescription = {
  name: mailJob,
  concurrency: null,
  retry: { max: mailRetries, backoff: 'exponential' },
  timeoutMs: jobTimeoutSec * 1000,
  takesMails: true,
};

function refuseTwice(kind: string, declared: readonly { readonly name: string }[]): void {
  const names = declared.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`the ${kind} ${twice} is declared twice`);
}

function describeRoute({ handler, params, query, body, answer, ...rest }: z.output<typeof route>): RouteDescription {
  const describe = (io: 'input' | 'output', declared: Route['body']) =>
    declared && z.toJSONSchema(declared, { io, unrepresentable: 'any' });
  const schemas = Object.entries({
    params: describe('input', params),
    query: describe('input', query),
    body: describe('input', body),
    answer: describe('output', answer),
  });
  return {
    ...rest,
    rule: rest.rule,
    action: rest.action,
    takesBody: body !== undefined,
    schemas: Object.fromEntries(schemas.filter(([, declared]) => declared !== undefined)),
  };
}

function findScheduleProblem(schedule: string, timezone: string): string | undefined {
  if (schedule.trim().split(/\s+/).length !== 5) return 'must have five fields: minute, hour, day, month, weekday';
  try {
    const next = new Cron(schedule, { timezone, paused: true, mode: '5-part' }).nextRun();
    return next ? undefined : 'never occurs';
  } catch (error) {
    return messageOf(error);
  }
}
