import { manifestPath, type RouteManifest } from '@recordbus/http';
import { every } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import { routeScopes } from '@recordbus/request/scope';
import { z } from 'zod';

interface ManifestPollOptions {
  readonly name: string;
  readonly log: Logger;
  /** Sends a GET for one of the service's paths. */
  readonly ask: (path: string) => Promise<{ status: number; body: unknown }>;
}

/** Follows the routes that a service declares. */
export interface ManifestPoll {
  /** Asks once before it resolves, whether or not the service answers, and then repeatedly until `stop`. */
  start(onRoutes: (routes: readonly RouteManifest[]) => void): Promise<void>;
  /** Whether the service has answered with its routes. */
  isKnown(): boolean;
  /** Asks now. While an answer is pending, asks again after it, since that answer may be older than the change. */
  refresh(): void;
  stop(): void;
}

/** How often the routes are read again once they are known, in milliseconds. */
const refreshMs = 15_000;
/** How often the gateway asks for them until then, in milliseconds. */
const retryMs = 500;

const action = z.enum(['auth', 'create', 'list', 'view', 'update', 'delete', 'subscribe']).optional().catch(undefined);
const jsonSchema = z.record(z.string(), z.unknown());

/**
 * A route as a service declares it. Loose, because a newer service may send members that this gateway does not know.
 */
export const routeManifest: z.ZodType<RouteManifest> = z.looseObject({
  method: z.enum(['GET', 'POST', 'PATCH', 'PUT', 'DELETE']),
  paths: z.array(z.string()),
  access: z.enum(['public', 'session', 'user', 'admin']),
  // A scope that this gateway does not know admits no key.
  scope: z.enum(routeScopes).catch('none'),
  action,
  otherAction: action,
  idempotent: z.boolean(),
  staysOpen: z.boolean().optional(),
  takesEnrollment: z.boolean().optional(),
  readsAuthorization: z.boolean().optional(),
  bodyLimitBytes: z.number(),
  multipartLimitBytes: z.number().optional(),
  multipartBody: jsonSchema.optional(),
  summary: z.string(),
  operationId: z.string().optional(),
  tag: z.string().optional(),
  params: jsonSchema.optional(),
  query: jsonSchema.optional(),
  requestHeaders: z.record(z.string(), z.string()).optional(),
  body: jsonSchema.optional(),
  answers: z.record(
    z.string(),
    z.looseObject({
      about: z.string().optional(),
      headers: z.record(z.string(), z.string()).optional(),
      contentType: z.string().optional(),
      schema: jsonSchema.optional(),
      example: z.unknown().optional(),
    }),
  ),
});

const manifestAnswer = z.object({ data: z.array(routeManifest) });

/** Creates the poll for a service's manifest. */
export function pollManifest({ name, log, ask }: ManifestPollOptions): ManifestPoll {
  let onRoutes: (routes: readonly RouteManifest[]) => void = () => {};
  let known = '';
  const polling = every({
    name: `read the ${name} routes`,
    log,
    intervalMs: () => (known ? refreshMs : retryMs),
    async run(ending) {
      // An error caused by the stop is not a failure.
      await askForRoutes().catch((error) => {
        if (!ending.aborted) throw error;
      });
    },
  });

  async function askForRoutes(): Promise<void> {
    const { status, body } = await ask(manifestPath);
    if (status !== 200) throw new Error(`the manifest was answered with ${status}`);
    const { data: routes } = manifestAnswer.parse(body);
    const text = JSON.stringify(body);
    if (text !== known) onRoutes(routes);
    known = text;
  }

  return {
    start(listener) {
      onRoutes = listener;
      polling.start();
      return polling.idle();
    },
    isKnown: () => known !== '',
    refresh: polling.wake,
    // Not awaited: an answer may take long, and it is no longer needed.
    stop: () => void polling.stop(),
  };
}
