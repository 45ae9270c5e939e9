import { createEgressClient, type EgressClient, type EgressClientOptions, parseEgressRules } from '@recordbus/egress';
import type { Settings } from './settings.ts';

/**
 * Creates a client for URLs that users chose. It obeys the current settings `hooks.http.*` (webhooks §7.1): after a change
 * it closes earlier connections.
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
  const unsubscribe = settings.onChange((changed) => {
    if (!changed.has('hooks.http.deny') && !changed.has('hooks.http.allow')) return;
    rules = undefined;
    client.reset();
  });
  return {
    ...client,
    close() {
      unsubscribe();
      return client.close();
    },
  };
}
