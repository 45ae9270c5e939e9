import type { JsonSchema } from '@recordbus/http';
import type { FixedScope } from '@recordbus/request/scope';

/** The points before a write's commit at which hooks run. */
export const beforePoints = [
  'beforeValidate',
  'afterValidate',
  'beforeCreate',
  'beforeUpdate',
  'beforeDelete',
] as const;
/** The points after the commit. */
export const afterPoints = ['afterCreate', 'afterUpdate', 'afterDelete'] as const;

export type BeforePoint = (typeof beforePoints)[number];
export type AfterPoint = (typeof afterPoints)[number];

/** Whether the point is before the commit, where a hook can change or refuse the write. */
export const isBefore = (point: BeforePoint | AfterPoint): point is BeforePoint =>
  !afterPoints.some((after) => after === point);

/** The name that means every collection. */
export const everyCollection = '*';

/** An extension's declarations as data: schemas are JSON Schema, functions stay in its worker. */
export interface ExtensionDescription {
  readonly hooks: readonly { readonly collection: string; readonly point: BeforePoint | AfterPoint }[];
  readonly signIn: readonly { readonly collection: string; readonly point: 'before' | 'after' }[];
  readonly routes: readonly RouteDescription[];
  readonly crons: readonly CronDescription[];
  readonly events: readonly EventDescription[];
  readonly jobs: readonly JobDescription[];
}

/** A custom event, its payload's schema as JSON Schema. */
export interface EventDescription {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonSchema;
  readonly example: unknown;
}

export interface RouteDescription {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Below `/api/x`. */
  readonly path: string;
  readonly access: 'public' | 'session' | 'user' | 'admin';
  readonly scope: 'any' | 'none' | FixedScope;
  readonly rule: string | undefined;
  readonly action: 'auth' | 'create' | 'list' | 'view' | 'update' | 'delete' | undefined;
  readonly summary: string;
  readonly idempotent: boolean;
  readonly timeoutMs: number;
  readonly takesBody: boolean;
  /** The declared schemas as JSON Schema. */
  readonly schemas: Readonly<Partial<Record<'params' | 'query' | 'body' | 'answer', JsonSchema>>>;
}

export interface CronDescription {
  readonly name: string;
  readonly schedule: string;
  readonly timeZone: string;
  readonly missed: 'skip' | 'run once';
  readonly timeoutMs: number;
}

/** The name of the job that takes a mail to the extension's `onMail`. */
export const mailJob = 'onMail';

export interface JobDescription {
  readonly name: string;
  /** How many run at once over all replicas; null for no limit. */
  readonly concurrency: number | null;
  readonly retry: {
    readonly max: number;
    /** Seconds. */
    readonly backoff: 'exponential' | number | readonly number[];
  };
  readonly timeoutMs: number;
  /** Whether it is the extension's `onMail`, which code cannot enqueue. */
  readonly takesMails: boolean;
}

/** The extension function to call. */
export type CallTarget =
  | { readonly kind: 'hook'; readonly collection: string; readonly point: BeforePoint | AfterPoint }
  | { readonly kind: 'signIn'; readonly collection: string; readonly point: 'before' | 'after' }
  /** By its method and path: `GET /orders/:id`. */
  | { readonly kind: 'route'; readonly name: string }
  | { readonly kind: 'cron'; readonly name: string }
  | { readonly kind: 'job'; readonly name: string }
  | { readonly kind: 'mail' }
  /** Checks a job's input, and returns its key. */
  | { readonly kind: 'jobInput'; readonly name: string };

/** Returns a target's name, for the log and errors. */
export function nameOfTarget(target: CallTarget): string {
  switch (target.kind) {
    case 'hook':
      return `hook ${target.collection}.${target.point}`;
    case 'signIn':
      return `sign-in hook ${target.collection}.${target.point}`;
    case 'route':
      return `route ${target.name}`;
    case 'cron':
      return `cron ${target.name}`;
    case 'job':
      return `job ${target.name}`;
    case 'mail':
      return mailJob;
    case 'jobInput':
      return `input of job ${target.name}`;
  }
}
