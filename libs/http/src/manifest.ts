import { type AnswerManifest, describeAnswer, inEnvelope, type JsonSchema, toJsonSchema } from './answers.ts';
import { withPortablePatterns } from './portable-patterns.ts';
import type { Route } from './route.ts';

/** The internal path for a service's routes. */
export const manifestPath = '/internal/manifest';

/** The internal path for a service's metrics (`readMetrics`). */
export const metricsPath = '/internal/metrics';

/** The internal path for a service's description (`Service.describe`). */
export const descriptionPath = '/internal/description';

/** A route as the gateway needs it to forward and limit requests, and as clients need it to make them. */
export interface RouteManifest {
  readonly method: Route['method'];
  readonly paths: readonly string[];
  readonly access: Route['access'];
  readonly scope: Route['scope'];
  readonly action?: Route['action'];
  readonly otherAction?: Route['otherAction'];
  readonly idempotent: boolean;
  readonly takesEnrollment?: boolean | undefined;
  readonly staysOpen?: boolean | undefined;
  readonly readsAuthorization?: boolean | undefined;
  readonly bodyLimitBytes: number;
  /** The schemas for a body that the route reads itself, by content type. */
  readonly streamedBody?: Readonly<Record<string, JsonSchema>> | undefined;
  /** Undefined for routes that accept no multipart body. */
  readonly multipartLimitBytes?: number | undefined;
  /** The multipart body's schema. */
  readonly multipartBody?: JsonSchema | undefined;
  readonly summary: string;
  /** The operation's id and tag in the API's description; derived from method and path by default. */
  readonly operationId?: string | undefined;
  readonly tag?: string | undefined;
  readonly params?: JsonSchema | undefined;
  readonly query?: JsonSchema | undefined;
  readonly requestHeaders?: Readonly<Record<string, string>> | undefined;
  readonly body?: JsonSchema | undefined;
  readonly answers: Readonly<Record<string, AnswerManifest>>;
}

/** Cached, since gateways poll and describing the schemas of a service takes tens of milliseconds. */
const descriptions = new WeakMap<Route, RouteManifest>();

/** Converts declared routes to data: schemas become JSON Schema, handlers are dropped. */
export const describeRoutes = (routes: readonly Route[]): RouteManifest[] =>
  routes.map((route) => {
    const description = descriptions.get(route) ?? describeRoute(route);
    descriptions.set(route, description);
    return description;
  });

function describeRoute(route: Route): RouteManifest {
  const { handler, admit, parseBody, params, query, body, answers, described = {}, ...rest } = route;
  const { answer, ...inputs } = described;
  return withPortablePatterns({
    ...rest,
    ...(params && { params: toJsonSchema(params, 'input') }),
    ...(query && { query: toJsonSchema(query, 'input') }),
    ...(body && { body: toJsonSchema(body, 'input') }),
    ...inputs,
    answers: {
      ...Object.fromEntries(Object.entries(answers).map(([status, given]) => [status, describeAnswer(given)])),
      ...(answer && { 200: { schema: inEnvelope(answer) } }),
    },
  });
}
