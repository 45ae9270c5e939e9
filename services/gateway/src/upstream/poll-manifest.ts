import { every } from '@recordbus/shared/background';
import { manifestPath, type RouteManifest } from '@recordbus/shared/http';
import type { Logger } from '@recordbus/shared/logging';
import { z } from 'zod';

interface ManifestPollOptions {
  readonly name: string;
  readonly log: Logger;
  /** GETs a path of the service. */
  readonly ask: (path: string) => Promise<{ status: number; body: unknown }>;
}

/** Follows the routes that a service declares. */
export interface ManifestPoll {
  /** Asks once before it resolves, answered or not, and then for as long as this lives. */
  start(onRoutes: (routes: readonly RouteManifest[]) => void): Promise<void>;
  /** Has the service told its routes at all? */
  isKnown(): boolean;
  /** Asks now, or once more if an answer is under way: that may be of before. */
  refresh(): void;
  stop(): void;
}

/** How often a service is asked whose routes are known, and one that has not told them yet, in milliseconds. */
const refreshMs = 15_000;
const retryMs = 500;

const jsonSchema = z.record(z.string(), z.unknown());

/** A route as a service tells it. What the gateway does not know yet may come with a newer service. */
export const routeManifest: z.ZodType<RouteManifest> = z.looseObject({
  method: z.enum(['GET', 'POST', 'PATCH', 'PUT', 'DELETE']),
  paths: z.array(z.string()),
  access: z.enum(['public', 'session', 'user', 'admin']),
  action: z.enum(['auth', 'create', 'list', 'view', 'update', 'delete']).optional(),
  idempotent: z.boolean(),
  bodyLimitBytes: z.number(),
  multipartLimitBytes: z.number().optional(),
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
    }),
  ),
});

const manifestAnswer = z.object({ data: z.array(routeManifest) });

/** Makes the poll of one service's manifest. */
export function pollManifest({ name, log, ask }: ManifestPollOptions): ManifestPoll {
  let onRoutes: (routes: readonly RouteManifest[]) => void = () => {};
  let known = '';
  const polling = every({
    name: `read the routes of ${name}`,
    log,
    intervalMs: () => (known ? refreshMs : retryMs),
    async run(ending) {
      // What breaks when the poll stops is no failure.
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
    // Not awaited: an answer may take its time, and nothing comes of it any more.
    stop: () => void polling.stop(),
  };
}
