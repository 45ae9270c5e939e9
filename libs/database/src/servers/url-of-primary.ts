import { urlsOfDatabase } from '@recordbus/shared/database-urls';
import { askServers, choosePrimary } from './find-primary.ts';
import { createServerProbe } from './server-state.ts';

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
