import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Principal, RequestContext } from './context.ts';
import type { Description } from './http/description.ts';
import type { Route } from './http/route.ts';
import type { Metrics } from './metrics/index.ts';

/** Answers one request. The context is what the gateway verified; the handler never reads credentials itself. */
export type RequestHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  context: RequestContext,
) => Promise<void>;

/** Asks one dependency for a sign of life; throws when there is none. */
export type HealthCheck = () => Promise<void>;

/**
 * A service as a function returns one of these: alone in a process it is served over HTTP, in one process with the
 * others the gateway calls `handle` directly.
 */
export interface Service {
  readonly name: string;
  /** As they are now. */
  readonly routes: readonly Route[];
  /** For a service whose routes change while it runs: calls back when they have. */
  readonly onRoutesChange?: (listener: () => void) => void;
  readonly handle: RequestHandler;
  /** Answers other services, at paths below `/internal/` that the gateway never routes. */
  readonly handleInner?: RequestHandler;
  readonly checks: Readonly<Record<string, HealthCheck>>;
  /** Names of checks that are reported only: the service answers requests without what they ask. */
  readonly dispensable?: ReadonlySet<string>;
  /** What it measures; part of `GET /api/v1/metrics`. */
  readonly metrics?: Metrics;
  /** What it serves at the moment beside its declared routes, as far as this caller may know of it. */
  describe?(principal: Principal): Promise<Description>;
  start(): Promise<void>;
  /** Finishes what it began; called after the last request was answered. */
  stop(): Promise<void>;
}
