import type { RequestContext } from '@recordbus/shared/context';
import type { AppError } from '@recordbus/shared/errors';
import type { Match } from '@recordbus/shared/http';
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
  /** What stands for the parameters of the route's path, decoded. */
  params: Match<unknown>['params'];
  /** What is answered instead of the route. That is after the request was counted, so that guessing is limited too. */
  refusal: AppError | undefined;
  /** The label of the rate rule that the request was counted under. */
  rateRule: string | undefined;
  /** When the service was asked, and when its answer had ended; undefined for what never came that far. */
  forwardedAtMs: number | undefined;
  answeredAtMs: number | undefined;
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

const probePaths = new Set(['/healthz', '/readyz']);

/** Is it what runs the process that asks, every few seconds, how it is? */
export const isProbe = ({ route }: Exchange): boolean => route !== undefined && probePaths.has(route.paths[0]);
