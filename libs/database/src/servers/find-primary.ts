import { setTimeout } from 'node:timers/promises';
import { urlsOfDatabase } from '@recordbus/process/database-urls';
import { createServerProbe, type ServerState } from './server-state.ts';

/** One server's answer, or its error. */
export type ServerAnswer<S> =
  | { readonly server: S; readonly state: ServerState }
  | { readonly server: S; readonly error: unknown };

/** How long the others may take after the first server that takes writes, in milliseconds. */
const graceMs = 300;

/**
 * Queries all servers. Waits for all answers, or for a moment after one that takes writes has answered. So a server
 * that hangs delays nothing.
 */
export async function askServers<S>(
  servers: readonly S[],
  ask: (server: S) => Promise<ServerState>,
): Promise<readonly ServerAnswer<S>[]> {
  const answers: ServerAnswer<S>[] = [];
  const found = Promise.withResolvers<void>();
  const all = Promise.all(
    servers.map(async (server) => {
      try {
        const state = await ask(server);
        answers.push({ server, state });
        if (state.takesWrites) found.resolve();
      } catch (error) {
        answers.push({ server, error });
      }
    }),
  );
  await Promise.race([all, found.promise.then(() => setTimeout(graceMs))]);
  return [...answers];
}

/**
 * Returns the server that takes writes on the newest timeline; if there are several, the one in use. A server on a
 * timeline older than the newest ever seen is an old primary that was not stopped. Writes to it would be lost.
 */
export function choosePrimary<S>(
  answers: readonly ServerAnswer<S>[],
  known: { readonly server: S | undefined; readonly timeline: number },
): { readonly server: S; readonly state: ServerState } | undefined {
  const candidates = answers.flatMap((answer) =>
    'state' in answer && answer.state.takesWrites && answer.state.timeline >= known.timeline ? [answer] : [],
  );
  const newest = Math.max(...candidates.map(({ state }) => state.timeline));
  const best = candidates.filter(({ state }) => state.timeline === newest);
  return best.find(({ server }) => server === known.server) ?? best[0];
}

/**
 * Returns the URL of the server that takes writes. A URL with one host is returned unchanged. Throws if no server that
 * takes writes answers.
 */
export async function urlOfPrimary(url: string, name: string): Promise<string> {
  const [first, ...others] = urlsOfDatabase(url) ?? [url];
  if (others.length === 0) return first;
  const servers = [first, ...others].map((one) => ({ url: one, probe: createServerProbe({ url: one, name }) }));
  const answers = await askServers(servers, ({ probe }) => probe.ask());
  await Promise.all(servers.map(({ probe }) => probe.close()));
  const chosen = choosePrimary(answers, { server: undefined, timeline: 0 });
  if (chosen) return chosen.server.url;
  throw answers.find((answer) => 'error' in answer)?.error ?? new Error('none of its servers takes writes');
}
