import type { RequestContext } from '@recordbus/shared/context';
import type { ErrorRequestHandler, RequestHandler, Response } from 'express';
import type { RouteEntry } from '../routing/routing-table.ts';

/** What the gateway knows of one request and its answer; every step of the pipeline adds its part. */
export interface Exchange {
  readonly startedAtMs: number;
  /** What the connection had sent before this answer, in bytes. */
  readonly bytesSentBefore: number;
  /** The principal is a guest until `authenticate` has looked. */
  context: RequestContext;
  route: RouteEntry | undefined;
}

interface Locals extends Record<string, unknown> {
  exchange: Exchange;
}

type NoParams = Record<string, string>;

export type GatewayResponse = Response<unknown, Locals>;

/** One step of the pipeline. */
export type Step = RequestHandler<NoParams, unknown, unknown, unknown, Locals>;

/** The step for what another one threw. */
export type ErrorStep = ErrorRequestHandler<NoParams, unknown, unknown, unknown, Locals>;
