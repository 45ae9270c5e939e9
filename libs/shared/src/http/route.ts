import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import type { RequestContext } from '../context.ts';
import type { Answer, JsonSchema } from './answers.ts';
import type { KeepAnswer } from './idempotency-store.ts';
import type { Reply } from './reply.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

/** Who may call: anyone (rules may still refuse), any valid token, a user's token, or an admin's. */
export type Access = 'public' | 'session' | 'user' | 'admin';

/** The action that rate-limit labels name (interface §2.7, contract §7). */
export type Action = 'auth' | 'create' | 'list' | 'view' | 'update' | 'delete';

/** What a handler gets: the parts of the request as its declaration says they are. */
export interface RouteInput<P, Q, B> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** What the query says under a name, whether the declaration knows it or not; the last one counts. */
  queryText(name: string): string | undefined;
  readonly context: RequestContext;
  /** As the client sent it; a GET route is asked by HEAD too. */
  readonly isHead: boolean;
  /** The request, its body unread, when that is multipart and the route reads such bodies itself; `body` is empty then. */
  readonly multipart: IncomingMessage | undefined;
  /**
   * The header's value; repeated headers are joined as node:http joins them. Those that speak of a connection are not
   * the request's.
   */
  header(name: string): string | undefined;
  /** The names of all headers, in lower case. */
  headerNames(): readonly string[];
  /** There for a request with an idempotency key: a handler may keep its answer in its own transaction. */
  readonly keepAnswer?: KeepAnswer;
}

/** What the manifest says of a route whose schemas are not here. */
export interface Described {
  readonly params?: JsonSchema;
  readonly query?: JsonSchema;
  readonly body?: JsonSchema;
  /** Of the `data` of a 200. */
  readonly answer?: JsonSchema;
}

interface RouteDeclaration<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType> {
  readonly method: Method;
  /** One path or several for the same resource; `:name` is a parameter. */
  readonly path: string | readonly string[];
  readonly access: Access;
  readonly action?: Action;
  readonly summary: string;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** Status for a body whose members do not fit; 422 when not given (interface §7 says 400 for OAuth2). */
  readonly refusesBodyWith?: 400 | 422;
  /** Largest body in bytes; 1 MiB when not given. */
  readonly bodyLimitBytes?: number;
  /** For a route that reads `multipart/form-data` itself: the largest such body in bytes. Others refuse it with 415. */
  readonly multipartLimitBytes?: number;
  /** Is the request made once for each `X-Service-Idempotency-Key` (contract §1)? For a POST that creates something. */
  readonly idempotent?: boolean;
  /** Headers that the route reads, each with what it means. */
  readonly requestHeaders?: Readonly<Record<string, string>>;
  /** Every status the route answers with, beside those that any route can. */
  readonly answers: Readonly<Record<number, Answer>>;
  /** JSON Schemas for the manifest in the place of schemas that are checked elsewhere. */
  readonly described?: Described;
  /** Refuses, by throwing, what no query and no body could make right; asked before either is looked at. */
  readonly admit?: (input: Pick<RouteInput<z.output<P>, never, never>, 'params' | 'context'>) => Promise<void> | void;
  readonly handler: (input: RouteInput<z.output<P>, z.output<Q>, z.output<B>>) => Promise<Reply> | Reply;
}

/** A declared route: the one place from which routing, validation, errors and the OpenAPI document come. */
export interface Route {
  readonly method: Method;
  readonly paths: readonly string[];
  readonly access: Access;
  readonly action: Action | undefined;
  readonly summary: string;
  readonly params: z.ZodType | undefined;
  readonly query: z.ZodType | undefined;
  readonly body: z.ZodType | undefined;
  readonly refusesBodyWith: 400 | 422;
  readonly bodyLimitBytes: number;
  readonly multipartLimitBytes: number | undefined;
  readonly idempotent: boolean;
  readonly requestHeaders?: Readonly<Record<string, string>> | undefined;
  readonly answers: Readonly<Record<number, Answer>>;
  readonly described?: Described;
  readonly admit:
    | ((input: Pick<RouteInput<never, never, never>, 'params' | 'context'>) => Promise<void> | void)
    | undefined;
  readonly handler: (input: RouteInput<never, never, never>) => Promise<Reply> | Reply;
}

const defaultBodyLimitBytes = 1024 * 1024;

/** Declares a route. */
export function route<
  P extends z.ZodType = z.ZodType<Record<string, string>>,
  Q extends z.ZodType = z.ZodType<Record<string, string>>,
  B extends z.ZodType = z.ZodUndefined,
>(declaration: RouteDeclaration<P, Q, B>): Route {
  const { path, action, params, query, body, admit, ...rest } = declaration;
  const {
    bodyLimitBytes = defaultBodyLimitBytes,
    multipartLimitBytes,
    idempotent = false,
    refusesBodyWith = 422,
  } = declaration;
  const paths = typeof path === 'string' ? [path] : path;
  return {
    ...rest,
    idempotent,
    refusesBodyWith,
    action,
    params,
    query,
    body,
    admit,
    bodyLimitBytes,
    multipartLimitBytes,
    paths,
  };
}
