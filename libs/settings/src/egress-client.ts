import { createEgressClient, type EgressClient, type EgressClientOptions, parseEgressRules } from '@recordbus/egress';
import type { Settings } from './settings.ts';

/**
 * Creates a client for URLs that users chose. It obeys the current settings `hooks.http.*` (webhooks §7.1): after a change
 * it closes earlier connections. With `always` it filters even if the settings switch the filter off, as for URLs that
 * customers chose (webhooks §9.1).
 */
export function createFilteredClient(
  settings: Pick<Settings, 'get' | 'onChange'>,
  options: Omit<EgressClientOptions, 'rules'> = {},
  filters: 'asSet' | 'always' = 'asSet',
): EgressClient {
  function readRules() {
    const lists = { deny: settings.get('hooks.http.deny'), allow: settings.get('hooks.http.allow') };
    const rules = parseEgressRules(lists);
    return rules.filtering || filters === 'asSet' ? rules : parseEgressRules({ ...lists, deny: '' });
  }
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
