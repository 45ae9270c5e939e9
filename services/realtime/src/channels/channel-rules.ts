import { forbidden, notFound, unauthenticated } from '@recordbus/errors';
import type { LiveReads } from '@recordbus/live';
import type { Principal } from '@recordbus/request/context';
import { isAdmin, rightsOf, scopeMissing } from '@recordbus/request/key-rights';
import type { ChannelRule, Settings } from '@recordbus/settings';
import { matchesPattern } from './match-pattern.ts';

/** What a caller may do in a channel. */
type Act = 'publish' | 'subscribe';

/** Decides by `realtime.channels` what callers may do in channels (realtime §7.2). */
export interface ChannelRules {
  /** Returns the first matching pattern's rule. Throws 404 if none matches. */
  find(channel: string, act: Act): string | null;
  /** Returns the rule that admits the caller. Throws 404 without a rule, 403 or 401 if the rule refuses, and 503. */
  admit(channel: string, act: Act, principal: Principal): Promise<string | null>;
}

interface RulesDeps {
  readonly settings: Pick<Settings, 'get'>;
  readonly live: Pick<LiveReads, 'admitsToChannel'>;
}

const ruleOf: Readonly<Record<Act, (entry: ChannelRule) => string | null>> = {
  publish: ({ publish_rule }) => publish_rule,
  subscribe: ({ subscribe_rule }) => subscribe_rule,
};

export function createChannelRules({ settings, live }: RulesDeps): ChannelRules {
  function find(channel: string, act: Act): string | null {
    const entry = settings.get('realtime.channels').find(({ pattern }) => matchesPattern(pattern, channel));
    if (!entry) throw notFound('channel');
    return ruleOf[act](entry);
  }

  return {
    find,
    async admit(channel, act, principal) {
      // A channel belongs to no collection, so a key needs the scope `rules:*` (keys §3.4).
      const isNarrow = principal.type === 'service' && !isAdmin(principal) && !rightsOf(principal.scopes).hasEveryRule;
      if (isNarrow) throw scopeMissing('rules:*');
      const rule = find(channel, act);
      if (isOpenTo(rule, principal)) return rule;
      // Channel rules cannot read the request.
      const caller = { principal, headers: {}, query: {} };
      if (rule !== '' && (await live.admitsToChannel(rule, channel, caller))) return rule;
      throw principal.type === 'guest' && principal.rejectedToken
        ? unauthenticated('the token is not valid')
        : forbidden("the channel's rule does not allow it");
    },
  };
}

/** Whether the rule admits the caller without an evaluation. */
export const isOpenTo = (rule: string | null, principal: Principal): boolean => rule === null || isAdmin(principal);

/** The `@request.auth` members that a session has; a connection ends when they change (realtime §5.1). */
const ownMacro = /^@(?:channel|request\.auth\.(?:id|type|collection|email|verified))(?![\w.])/;

/** Whether a rule may read records, so that its result may change for the same caller. */
export const readsRecords = (rule: string | null): boolean =>
  rule !== null &&
  (/\w\s*\(/.test(rule) || [...rule.matchAll(/@/g)].some(({ index }) => !ownMacro.test(rule.slice(index, index + 40))));
