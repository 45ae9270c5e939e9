import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readiness, RouteManifest, ServiceDescription } from '@recordbus/http';
import type { RequestHandler } from '@recordbus/http/service';
import type { MetricFamily } from '@recordbus/process/metrics';
import type { RequestContext } from '@recordbus/request/context';

/** One service replica's metrics; `families` is undefined when it did not answer. */
export interface ReplicaMetrics {
  /** Its host and port; undefined in the gateway's own process. */
  readonly instance: string | undefined;
  readonly families: readonly MetricFamily[] | undefined;
}

/** A route as requests need it. */
export type ForwardedRoute = Pick<
  RouteManifest,
  | 'method'
  | 'paths'
  | 'access'
  | 'scope'
  | 'action'
  | 'otherAction'
  | 'bodyLimitBytes'
  | 'multipartLimitBytes'
  | 'staysOpen'
  | 'takesEnrollment'
  | 'readsAuthorization'
>;

/** A service's routes. */
export interface UpstreamRoutes {
  readonly declared: readonly ForwardedRoute[];
  /** Describes them with their schemas, as clients need them. Most gateways never need this. */
  describe(): Promise<readonly RouteManifest[]>;
}

/** A service as the gateway sees it, in this process or behind HTTP. */
export interface Upstream {
  readonly name: string;
  /**
   * Calls `onRoutes` with the service's routes: before it resolves if the service answers now, otherwise as soon as it
   * does, and again whenever they may have changed.
   */
  start(onRoutes: (routes: UpstreamRoutes) => void): Promise<void>;
  /**
   * Forwards a request. Rejects with an AppError when the service cannot be reached; it answers its own errors itself.
   */
  readonly forward: RequestHandler;
  /**
   * Forwards a request whose answer stays open until its client leaves, for routes with `staysOpen`. Resolves when the
   * answer has begun.
   */
  readonly forwardOpen: RequestHandler;
  /**
   * Forwards a request for a WebSocket; `head` has the first bytes after it. Resolves when it was answered.
   * Rejects with an AppError if the request is refused before anything was sent.
   */
  upgrade(request: IncomingMessage, response: ServerResponse, head: Buffer, context: RequestContext): Promise<void>;
  /** Returns the service's readiness. Never rejects. */
  ready(): Promise<Readiness>;
  /** Returns each replica's metrics, at least one entry. Never rejects. */
  metrics(): Promise<readonly ReplicaMetrics[]>;
  /**
   * Returns the service's description for the caller, in addition to its routes. Rejects with 503 if it does not
   * answer.
   */
  describe(context: RequestContext): Promise<ServiceDescription | undefined>;
  /** Ends the connections that stay open; only for a service in another process. Call it when the gateway stops. */
  drain?(): Promise<void>;
  stop(): Promise<void>;
}
