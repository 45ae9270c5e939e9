import type { JsonSchema } from '@recordbus/shared/http';

/** The points of a write at which hooks are called. */
export const beforePoints = [
  'beforeValidate',
  'afterValidate',
  'beforeCreate',
  'beforeUpdate',
  'beforeDelete',
] as const;
/** The points after it. */
export const afterPoints = ['afterCreate', 'afterUpdate', 'afterDelete'] as const;

export type BeforePoint = (typeof beforePoints)[number];
export type AfterPoint = (typeof afterPoints)[number];

/** Is it a point within the write, which may change and refuse it? */
export const isBefore = (point: BeforePoint | AfterPoint): point is BeforePoint =>
  !afterPoints.some((after) => after === point);

/** The name that stands for every collection. */
export const everyCollection = '*';

/** What an extension declares, as data: schemas are JSON Schema, functions stay in its worker. */
export interface Description {
  readonly hooks: readonly { readonly collection: string; readonly point: BeforePoint | AfterPoint }[];
  readonly signIn: readonly { readonly collection: string; readonly point: 'before' | 'after' }[];
  readonly routes: readonly RouteDescription[];
  readonly crons: readonly CronDescription[];
}

export interface RouteDescription {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Below `/api/x`. */
  readonly path: string;
  readonly access: 'public' | 'session' | 'user' | 'admin';
  readonly rule: string | undefined;
  readonly action: 'auth' | 'create' | 'list' | 'view' | 'update' | 'delete' | undefined;
  readonly summary: string;
  readonly idempotent: boolean;
  readonly timeoutMs: number;
  readonly takesBody: boolean;
  /** JSON Schemas of those that are declared. */
  readonly schemas: Readonly<Partial<Record<'params' | 'query' | 'body' | 'answer', JsonSchema>>>;
}

export interface CronDescription {
  readonly name: string;
  readonly schedule: string;
  readonly timeZone: string;
  readonly missed: 'skip' | 'run once';
  readonly timeoutMs: number;
}

/** Which function of an extension is to be called. */
export type CallTarget =
  | { readonly kind: 'hook'; readonly collection: string; readonly point: BeforePoint | AfterPoint }
  | { readonly kind: 'signIn'; readonly collection: string; readonly point: 'before' | 'after' }
  /** By its method and path: `GET /orders/:id`. */
  | { readonly kind: 'route'; readonly name: string }
  | { readonly kind: 'cron'; readonly name: string };

/** How the log and errors name a target. */
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
  }
}
