import type { Readiness, RouteManifest } from '@recordbus/shared/http';
import type { RequestHandler } from '@recordbus/shared/service';

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
  stop(): Promise<void>;
}
