import type { z } from 'zod';
import type { Caller } from './caller.ts';
import type { AnySchema } from './schema.ts';
import type { HandlerTools } from './tools.ts';

/** A request, typed by its route's declaration. */
export interface RouteRequest<P, Q, B> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly caller: Caller;
  /** Returns a header by name; cookies and credentials are withheld. */
  header(name: string): string | undefined;
  readonly clientAddress: string;
  readonly requestId: string;
}

type Texts = Readonly<Record<string, string>>;
type OutputOf<S> = S extends z.ZodType ? z.output<S> : Texts;

interface Declaration<P, Q, B, S> {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Below `/api/x`; `:name` is a parameter. */
  readonly path: `/${string}`;
  /** Anyone, any valid token, a user's token, or an admin's token; `admin` by default. */
  readonly access?: 'public' | 'session' | 'user' | 'admin';
  /**
   * The scope that a service key needs, `admin` by default: `any` admits every key, `none` no key. A route for users admits
   * no key.
   */
  readonly scope?:
    | 'any'
    | 'none'
    | 'collections:read'
    | 'collections:apply'
    | 'webhooks:read'
    | 'webhooks:write'
    | 'settings:read'
    | 'settings:write'
    | 'files'
    | 'logs:read'
    | 'metrics:read'
    | 'users:impersonate'
    | 'admin';
  /** An expression that must hold, in the language of collection rules, with `@request.*`. Admins pass it. */
  readonly rule?: string;
  /** The action that rate rule labels name. */
  readonly action?: 'auth' | 'create' | 'list' | 'view' | 'update' | 'delete';
  readonly summary?: string;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** The schema for the answer's `data`, for the API's description. */
  readonly answer?: z.ZodType;
  /** Whether a POST honours `Idempotency-Key`: its work is done once, and its answer is repeated for a day. */
  readonly idempotent?: boolean;
  /** A call's timeout; 10 s by default, at most 55 s. */
  readonly timeoutMs?: number;
  readonly handler: (
    request: RouteRequest<OutputOf<P>, OutputOf<Q>, B extends z.ZodType ? z.output<B> : undefined>,
    tools: HandlerTools<S>,
  ) => unknown;
}

/** A route of an extension, with any schemas. */
export type Route<S = AnySchema> = Omit<
  Declaration<z.ZodType | undefined, z.ZodType | undefined, z.ZodType | undefined, S>,
  'handler'
> & {
  readonly handler: (request: never, tools: HandlerTools<S>) => unknown;
};

/**
 * Declares a route. The handler's result is the `data` of a 200; use `reply` for another status. A request that fails a
 * schema never reaches the handler: 400 for parameters and query, 422 for the body. Within `defineExtension<Schema>` its
 * tools know the collections.
 */
export const route = <
  P extends z.ZodType | undefined = undefined,
  Q extends z.ZodType | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
  S = AnySchema,
>(
  declaration: Declaration<P, Q, B, S>,
): Route<S> => declaration as Route<S>;

/** An answer with status and headers. */
export class Reply {
  readonly status: number;
  readonly data: unknown;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, data: unknown, headers: Readonly<Record<string, string>>) {
    this.status = status;
    this.data = data;
    this.headers = headers;
  }
}

/** Creates an answer with this status, from 200 to 399, a body `{"data": …}`, and these headers. */
export const reply = (status: number, data: unknown = null, headers: Readonly<Record<string, string>> = {}): Reply =>
  new Reply(status, data, headers);
