import type { RequestContext } from '@recordbus/shared/context';
import type { Description, Readiness, RouteManifest } from '@recordbus/shared/http';
import type { MetricFamily } from '@recordbus/shared/metrics';
import type { RequestHandler } from '@recordbus/shared/service';

/** What one replica of a service measured; nothing, when it did not tell. */
export interface ReplicaMetrics {
  /** Where it is, when that is another process. */
  readonly instance: string | undefined;
  readonly families: readonly MetricFamily[] | undefined;
}

/** A service as the gateway sees it, in this process or behind HTTP. */
export interface Upstream {
  readonly name: string;
  /**
   * Begins to tell the service's routes: before this resolves if it answers now, else as soon as it does, and again
   * whenever they may have changed.
   */
  start(onRoutes: (routes: readonly RouteManifest[]) => void): Promise<void>;
  /** Lets the service answer. Rejects with an AppError when it can't be asked; its own errors it answers itself. */
  readonly forward: RequestHandler;
  /** How the service is. Never rejects. */
  ready(): Promise<Readiness>;
  /** What each replica measured, at least one. Never rejects. */
  metrics(): Promise<readonly ReplicaMetrics[]>;
  /** What the service serves beside its routes and shows to the caller. Rejects with 503 when it can't be asked. */
  describe(context: RequestContext): Promise<Description | undefined>;
  stop(): Promise<void>;
}
