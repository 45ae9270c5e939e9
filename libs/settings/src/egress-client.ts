import { createEgressClient, type EgressClient, type EgressClientOptions, parseEgressRules } from '@recordbus/egress';
import type { Settings } from './settings.ts';

/**
 * Makes a client for URLs that other people chose, which obeys the settings `hooks.http.*` as they count now: after a
 * change no connection from before it is used again.
 */
export function createFilteredClient(
  settings: Pick<Settings, 'get' | 'onChange'>,
  options: Omit<EgressClientOptions, 'rules'> = {},
): EgressClient {
  const readRules = () =>
    parseEgressRules({ deny: settings.get('hooks.http.deny'), allow: settings.get('hooks.http.allow') });
  let rules: ReturnType<typeof readRules> | undefined;
  const client = createEgressClient({
    ...options,
    rules() {
      rules ??= readRules();
      return rules;
    },
  });
  const endFollowing = settings.onChange((changed) => {
    if (!changed.has('hooks.http.deny') && !changed.has('hooks.http.allow')) return;
    rules = undefined;
    client.reset();
  });
  return {
    ...client,
    close() {
      endFollowing();
      return client.close();
    },
  };
}
