import { type AnswerManifest, describeAnswer, inEnvelope, type JsonSchema, toJsonSchema } from './answers.ts';
import type { Route } from './route.ts';

/** Where a service tells the gateway its routes. */
export const manifestPath = '/internal/manifest';

/** Where a service tells the gateway what it measures: `readMetrics`. */
export const metricsPath = '/internal/metrics';

/** Where a service tells the gateway what it serves beside its declared routes: `Service.describe`. */
export const descriptionPath = '/internal/description';

/** What others have to know of a route: the gateway to send a request to it and to limit it, clients to use it. */
export interface RouteManifest {
  readonly method: Route['method'];
  readonly paths: readonly string[];
  readonly access: Route['access'];
  readonly action?: Route['action'];
  readonly idempotent: boolean;
  readonly bodyLimitBytes: number;
  /** Left out by routes that take no multipart body. */
  readonly multipartLimitBytes?: number | undefined;
  readonly summary: string;
  /** Name and group of the operation in the description of the API; made of method and path when left out. */
  readonly operationId?: string | undefined;
  readonly tag?: string | undefined;
  readonly params?: JsonSchema | undefined;
  readonly query?: JsonSchema | undefined;
  readonly requestHeaders?: Readonly<Record<string, string>> | undefined;
  readonly body?: JsonSchema | undefined;
  readonly answers: Readonly<Record<string, AnswerManifest>>;
}

/** Gateways ask again and again, and the schemas of a service take some tens of milliseconds to describe. */
const descriptions = new WeakMap<Route, RouteManifest>();

/** The declarations as data: schemas become JSON Schema, handlers stay behind. */
export const describeRoutes = (routes: readonly Route[]): RouteManifest[] =>
  routes.map((route) => {
    const description = descriptions.get(route) ?? describeRoute(route);
    descriptions.set(route, description);
    return description;
  });

function describeRoute(route: Route): RouteManifest {
  const { handler, admit, params, query, body, answers, described = {}, ...rest } = route;
  const { answer, ...inputs } = described;
  return {
    ...rest,
    ...(params && { params: toJsonSchema(params, 'input') }),
    ...(query && { query: toJsonSchema(query, 'input') }),
    ...(body && { body: toJsonSchema(body, 'input') }),
    ...inputs,
    answers: {
      ...Object.fromEntries(Object.entries(answers).map(([status, given]) => [status, describeAnswer(given)])),
      ...(answer && { 200: { schema: inEnvelope(answer) } }),
    },
  };
}
