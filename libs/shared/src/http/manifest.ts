import { z } from 'zod';
import type { Route } from './route.ts';

/** Where a service tells the gateway its routes. */
export const manifestPath = '/internal/manifest';

/** Where a service tells the gateway what it measures: `readMetrics`. */
export const metricsPath = '/internal/metrics';

/** What the gateway has to know of a route to send a request to it, and to limit it. */
export interface RouteManifest {
  readonly method: Route['method'];
  readonly paths: readonly string[];
  readonly access: Route['access'];
  readonly action?: Route['action'];
  readonly bodyLimitBytes: number;
  /** Left out by routes that take no multipart body. */
  readonly multipartLimitBytes?: number | undefined;
  readonly summary: string;
  readonly params?: unknown;
  readonly query?: unknown;
  readonly body?: unknown;
  readonly answers: Record<string, unknown>;
}

/** The declarations as data: schemas become JSON Schema, handlers stay behind. */
export function describeRoutes(routes: readonly Route[]): RouteManifest[] {
  return routes.map(({ handler, admit, params, query, body, answers, described, ...rest }) => ({
    ...rest,
    ...(params && { params: toJsonSchema(params, 'input') }),
    ...(query && { query: toJsonSchema(query, 'input') }),
    ...(body && { body: toJsonSchema(body, 'input') }),
    answers: Object.fromEntries(
      Object.entries(answers).map(([status, answer]) => [
        status,
        typeof answer === 'string' ? { description: answer } : toJsonSchema(answer, 'output'),
      ]),
    ),
    ...described,
  }));
}

const toJsonSchema = (schema: z.ZodType, io: 'input' | 'output') =>
  z.toJSONSchema(schema, { io, unrepresentable: 'any' });
