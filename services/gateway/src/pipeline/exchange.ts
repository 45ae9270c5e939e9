import type { AppError } from '@recordbus/errors';
import type { Match } from '@recordbus/http';
import type { RequestContext } from '@recordbus/request/context';
import type { Ticket } from '@recordbus/tokens';
import type { ErrorRequestHandler, RequestHandler, Response } from 'express';
import type { RouteEntry } from '../routing/routing-table.ts';

/** One request's state and its answer's; each step in the pipeline adds its part. */
export interface GatewayExchange {
  readonly startedAtMs: number;
  /** Bytes that the connection had sent before this answer. */
  readonly bytesSentBefore: number;
  /** The principal is a guest until `authenticate` has run. */
  context: RequestContext;
  route: RouteEntry | undefined;
  /** The values for the path's parameters, decoded. */
  params: Match<unknown>['params'];
  /** The refusal to answer with after the rate limit has counted the request, since guessed paths count too. */
  refusal: AppError | undefined;
  /** Whether a service key was refused. Such requests count as attempts to sign in (keys §2.5). */
  isKeyRefused: boolean;
  /** The ticket that names the caller, if the request has a valid one. */
  ticket: Ticket | undefined;
  /** The label on the rate rule that the request was counted under. */
  rateRule: string | undefined;
  /** When the request was forwarded, and when the answer ended; undefined for a request that did not get that far. */
  forwardedAtMs: number | undefined;
  answeredAtMs: number | undefined;
}

interface Locals extends Record<string, unknown> {
  exchange: GatewayExchange;
}

type NoParams = Record<string, string>;

export type GatewayResponse = Response<unknown, Locals>;

/** One pipeline step. */
export type Step = RequestHandler<NoParams, unknown, unknown, unknown, Locals>;

/** The step that handles another step's error. */
export type ErrorStep = ErrorRequestHandler<NoParams, unknown, unknown, unknown, Locals>;

/** Whether it was a connection that stayed open. Its client chooses its duration and ends it. */
export const wasOpen = ({ route }: GatewayExchange, status: number): boolean =>
  route?.staysOpen === true && status < 300;

/** The longest text from a request in a log, in characters. Requests may have more, up to their headers' limit. */
export const maxLoggedLength = 512;

/**
 * Whether the answer is a refusal that a client may cause without end: over a rate limit, or for an unknown path. The
 * logs count such refusals (admins §7.3). What an admin does as a user always has its own row.
 */
export const isRepeatable = ({ route, context: { principal } }: GatewayExchange, status: number): boolean =>
  (status === 429 || (status === 404 && route === undefined)) &&
  !(principal.type === 'user' && principal.impersonatedBy !== null);

const probePaths = new Set(['/healthz', '/readyz']);

/** Whether the request is a health probe, which orchestrators send every few seconds. */
export const isProbe = ({ route }: GatewayExchange): boolean => route !== undefined && probePaths.has(route.paths[0]);
