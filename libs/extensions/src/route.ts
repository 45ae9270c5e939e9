import type { z } from 'zod';
import type { Caller } from './caller.ts';
import type { Tools } from './tools.ts';

/** A request as its declaration says it is. */
export interface RouteRequest<P, Q, B> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly caller: Caller;
  /** By its name in lower case; cookies and credentials are not given. */
  header(name: string): string | undefined;
  readonly clientAddress: string;
  readonly requestId: string;
}

type Texts = Readonly<Record<string, string>>;
type OutputOf<S> = S extends z.ZodType ? z.output<S> : Texts;

interface Declaration<P, Q, B> {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Below `/api/x`; `:name` is a parameter. */
  readonly path: `/${string}`;
  /** Anyone, any valid token, a user's, or an admin's; admins only when not given. */
  readonly access?: 'public' | 'session' | 'user' | 'admin';
  /** An expression that has to hold, in the language of collection rules; it knows `@request.*`. Admins pass it. */
  readonly rule?: string;
  /** What the labels of rate limits call it. */
  readonly action?: 'auth' | 'create' | 'list' | 'view' | 'update' | 'delete';
  readonly summary?: string;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** The `data` of the answer, for the API's description. */
  readonly answer?: z.ZodType;
  /** Is a POST's work done once for each `X-Service-Idempotency-Key`, and its answer given again for a day? */
  readonly idempotent?: boolean;
  /** How long a call may take; 10 s when not given, at most 55 s. */
  readonly timeoutMs?: number;
  readonly handler: (
    request: RouteRequest<OutputOf<P>, OutputOf<Q>, B extends z.ZodType ? z.output<B> : undefined>,
    tools: Tools,
  ) => unknown;
}

/** A route of an extension, whatever its schemas. */
export type Route = Omit<
  Declaration<z.ZodType | undefined, z.ZodType | undefined, z.ZodType | undefined>,
  'handler'
> & {
  readonly handler: (request: never, tools: Tools) => unknown;
};

/**
 * Declares a route. What the handler returns is the `data` of a 200; `reply` says another status. What a schema refuses
 * never reaches the handler: 400 for parameters and query, 422 for the body.
 */
export const route = <
  P extends z.ZodType | undefined = undefined,
  Q extends z.ZodType | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
>(
  declaration: Declaration<P, Q, B>,
): Route => declaration as Route;

/** An answer that is more than its data. */
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

/** The answer with this status, from 200 to 399, a body `{"data": …}`, and these headers. */
export const reply = (status: number, data: unknown = null, headers: Readonly<Record<string, string>> = {}): Reply =>
  new Reply(status, data, headers);
