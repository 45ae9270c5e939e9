import type { IncomingMessage } from 'node:http';
import type { RequestContext } from '@recordbus/request/context';
import type { RouteScope } from '@recordbus/request/scope';
import type { z } from 'zod';
import type { Answer, JsonSchema } from './answers.ts';
import type { KeepAnswer, RequestKey } from './idempotency/store.ts';
import type { Reply } from './reply.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

/** Who may call: anyone (rules may still refuse), any valid token, a user's token, or an admin's token. */
export type Access = 'public' | 'session' | 'user' | 'admin';

/** The action that rate rule labels name (http §8.4). */
export type Action = 'auth' | 'create' | 'list' | 'view' | 'update' | 'delete' | 'subscribe';

/** A handler's input: the request's parts, as its declaration types them. */
export interface RouteInput<P, Q, B> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** Returns a query parameter, declared or not; the last one if there are several. */
  queryText(name: string): string | undefined;
  /** Returns every value for a query parameter that may repeat. */
  queryTexts(name: string): readonly string[];
  readonly context: RequestContext;
  /** Whether the method is HEAD, which GET routes serve too. */
  readonly isHead: boolean;
  /** The request with an unread multipart body, if the route reads such bodies itself; `body` is empty then. */
  readonly multipart: IncomingMessage | undefined;
  /** The request with an unread body of any type, if the route streams its body and the request has one. */
  readonly stream: IncomingMessage | undefined;
  /**
   * Returns a header's value; repeated headers are joined as node:http joins them. Hop-by-hop headers are not part of
   * the request.
   */
  header(name: string): string | undefined;
  /** Returns the names of all headers, in lower case. */
  headerNames(): readonly string[];
  /** Set for a request with an idempotency key: the handler may keep its answer in its own transaction. */
  readonly keepAnswer?: KeepAnswer;
  /** Set instead of `keepAnswer` if the route handles its key itself and the request has no multipart body. */
  readonly key?: RequestKey;
}

/** The schemas in the manifest for a route that validates elsewhere. */
export interface Described {
  readonly params?: JsonSchema;
  readonly query?: JsonSchema;
  readonly body?: JsonSchema;
  /** The schema for the `data` in a 200. */
  readonly answer?: JsonSchema;
}

/** Parses a JSON body's bytes. Throws the refusal for other bytes, and for JSON that is too costly. */
type ParseBody = (bytes: Uint8Array) => Promise<unknown>;

interface RouteDeclaration<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType> {
  readonly method: Method;
  /** One path or several for the same resource; `:name` is a parameter. */
  readonly path: string | readonly string[];
  readonly access: Access;
  /** The scope that a service key needs. Required, so no route is open to keys by mistake. */
  readonly scope: RouteScope;
  readonly action?: Action;
  /** A second action that requests count as, for a route that does one of two. */
  readonly otherAction?: Action;
  readonly summary: string;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** Status for a body with invalid members; 422 by default, 400 for OAuth2 (http §2.1). */
  readonly refusesBodyWith?: 400 | 422;
  /** Replaces JSON.parse for bodies that take long to parse. The schema gets the result. */
  readonly parseBody?: ParseBody;
  /** The largest body in bytes; 1 MiB by default. */
  readonly bodyLimitBytes?: number;
  /**
   * For a route that reads `multipart/form-data` itself: the largest such body in bytes. Other routes refuse it (415).
   */
  readonly multipartLimitBytes?: number;
  /**
   * For a route that reads its body itself, whatever its type (`RouteInput.stream`), and has no `body`: the schemas by content
   * type, for descriptions.
   */
  readonly streamedBody?: Readonly<Record<string, JsonSchema>>;
  /** The multipart form's JSON Schema, for descriptions. Files are texts in the format `binary`. */
  readonly multipartBody?: JsonSchema;
  /** Whether the route honours `Idempotency-Key` (http §7.8); for a POST that creates a resource. */
  readonly idempotent?: boolean;
  /** Whether a guest may have an enrollment token instead of the access (auth §6.10), which the handler checks. */
  readonly takesEnrollment?: boolean;
  /** Whether the handler itself makes sure that the work of a key is done once (`RouteInput.key`). */
  readonly answersOnce?: boolean;
  /** The header, in lower case, whose session stands for a caller without a token: its idempotency keys are its own. */
  readonly sessionHeader?: string | undefined;
  /** Whether its answers stay open until their clients leave (`Reply.holdOpen`), and it accepts WebSockets. */
  readonly staysOpen?: boolean;
  /** Whether the route itself checks `Authorization`, which then names no account: every caller is a guest. */
  readonly readsAuthorization?: boolean;
  /** Headers that the route reads, each with its description. */
  readonly requestHeaders?: Readonly<Record<string, string>>;
  /** Every status that the route answers with, in addition to those of any route. */
  readonly answers: Readonly<Record<number, Answer>>;
  /** JSON Schemas for the manifest, for parts that are validated elsewhere. */
  readonly described?: Described;
  /** Refuses a request by throwing or rejecting, before query and body are read, when neither could make it valid. */
  readonly admit?: (input: Pick<RouteInput<z.output<P>, never, never>, 'params' | 'context'>) => unknown;
  readonly handler: (input: RouteInput<z.output<P>, z.output<Q>, z.output<B>>) => Promise<Reply> | Reply;
}

/** A declared route: the one place from which routing, validation, errors and the OpenAPI document come. */
export interface Route {
  readonly method: Method;
  readonly paths: readonly string[];
  readonly access: Access;
  readonly scope: RouteScope;
  readonly action: Action | undefined;
  readonly otherAction?: Action | undefined;
  readonly summary: string;
  readonly params: z.ZodType | undefined;
  readonly query: z.ZodType | undefined;
  readonly body: z.ZodType | undefined;
  readonly parseBody?: ParseBody;
  readonly refusesBodyWith: 400 | 422;
  readonly bodyLimitBytes: number;
  readonly multipartLimitBytes: number | undefined;
  readonly multipartBody?: JsonSchema | undefined;
  readonly idempotent: boolean;
  readonly takesEnrollment?: boolean | undefined;
  readonly answersOnce?: boolean | undefined;
  readonly sessionHeader?: string | undefined;
  readonly streamedBody?: Readonly<Record<string, JsonSchema>> | undefined;
  readonly staysOpen?: boolean | undefined;
  readonly readsAuthorization?: boolean | undefined;
  readonly requestHeaders?: Readonly<Record<string, string>> | undefined;
  readonly answers: Readonly<Record<number, Answer>>;
  readonly described?: Described;
  readonly admit: ((input: Pick<RouteInput<never, never, never>, 'params' | 'context'>) => unknown) | undefined;
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
