import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Metrics } from '@recordbus/process/metrics';
import type { Principal, RequestContext } from '@recordbus/request/context';
import type { ServiceDescription } from './description.ts';
import type { Route } from './route.ts';

/** Answers one request. The gateway has verified the context; the handler never reads credentials itself. */
export type RequestHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  context: RequestContext,
) => Promise<void>;

/**
 * Takes over a connection whose request asks for a WebSocket. The gateway has verified the context and the handshake, and
 * matched a route with `staysOpen`. `head` has the first bytes after the request. The handler refuses by throwing before
 * it writes. It resolves when the connection is taken over, or when it has ended.
 */
export type UpgradeHandler = (
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  context: RequestContext,
) => Promise<void>;

/**
 * Checks one dependency; throws when it does not answer. A returned text describes a problem of a dependency that
 * works.
 */
export type HealthCheck = () => Promise<unknown>;

/**
 * A service. Alone in a process it is served over HTTP; in one process with the others the gateway calls `handle`
 * directly.
 */
export interface Service {
  readonly name: string;
  /** The current routes. */
  readonly routes: readonly Route[];
  /** For a service whose routes change while it runs: registers a listener for changes. */
  readonly onRoutesChange?: (listener: () => void) => void;
  readonly handle: RequestHandler;
  /** For a service with WebSockets. */
  readonly upgrade?: UpgradeHandler;
  /** Answers other services, at paths below `/internal/` that the gateway never forwards. */
  readonly handleInternal?: RequestHandler;
  readonly checks: Readonly<Record<string, HealthCheck>>;
  /** Names of checks that are only reported: the service answers requests without these dependencies. */
  readonly dispensable?: ReadonlySet<string>;
  /** Its metrics, part of `GET /api/v1/metrics`. */
  readonly metrics?: Metrics;
  /** Returns the parts of its API that are not declared routes, as far as this caller may see them. */
  describe?(principal: Principal): Promise<ServiceDescription>;
  start(): Promise<void>;
  /**
   * Loads what is too large to be loaded at the start, so that no request waits for it. Called once, when requests are
   * answered.
   */
  warm?(): Promise<void>;
  /**
   * For a service whose connections stay open: closes them, so that their clients reconnect to another replica. Called
   * before `stop`, when no new connections are accepted, within the time that requests have to end.
   */
  drain?(): Promise<void>;
  /** Finishes its work; called after the last request was answered. */
  stop(): Promise<void>;
}
