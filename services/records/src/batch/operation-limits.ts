import type { Query } from '@recordbus/database';
import { AppError, rateLimited } from '@recordbus/errors';
import {
  audienceOf,
  type ChooseRule,
  createChooseRule,
  giveBack,
  rateCaller,
  rateLabelOf,
  takeIfLeft,
  windowKey,
} from '@recordbus/rate-limits';
import type { RequestContext } from '@recordbus/request/context';
import type { RateRule, Settings } from '@recordbus/settings';
import { refusalAt } from './batch-refusal.ts';
import type { Operation, OperationVerb } from './operation.ts';

/** Counts batches' operations for the rate limits, each like the single write (batch §1.4). */
export interface OperationLimits {
  /**
   * Counts a batch's operations under their rules, or none. Returns the headers for the rule with the least left.
   * Throws 429 with the index of the first operation that is over a limit.
   */
  count(operations: readonly Operation[], caller: Caller): Promise<Readonly<Record<string, string>>>;
}

type Caller = Pick<RequestContext, 'principal' | 'clientAddress'>;

interface OperationLimitsDeps {
  readonly query: Query;
  readonly settings: Pick<Settings, 'get'>;
}

/** The path for batches. The gateway has counted the request under its rule. */
export const batchPath = '/api/v1/batch';

const prefixes = ['/api', '/api/v1', '/api/v1/records'];

const actionsOf: Readonly<Record<OperationVerb, readonly RateRule['action'][]>> = {
  create: ['create'],
  update: ['update'],
  upsert: ['update', 'create'],
  delete: ['delete'],
};

/** Creates a replica's limits. They count in the gateways' windows. */
export function createOperationLimits({ query, settings }: OperationLimitsDeps): OperationLimits {
  const choices = new WeakMap<readonly RateRule[], ChooseRule>();
  const chooseBy = (rules: readonly RateRule[]): ChooseRule => {
    const choose = choices.get(rules) ?? createChooseRule(rules);
    choices.set(rules, choose);
    return choose;
  };

  return {
    async count(operations, caller) {
      if (!settings.get('rate_limit.enabled')) return {};
      const counts = countsOf(operations, chooseBy(settings.get('rate_limit.rules')), caller);
      const taken: Taken[] = [];
      try {
        for (const [rule, indexes] of counts) taken.push(await take(query, rule, indexes, caller));
      } catch (error) {
        for (const { key, count, window } of taken) await giveBack(query, { key, count, endsAtMs: window.endsAtMs });
        throw error;
      }
      return headersOf(taken);
    },
  };
}

/** Which operations each rule counts, by index. The request counts as the first operation under its own rule. */
function countsOf(
  operations: readonly Operation[],
  choose: ChooseRule,
  caller: Caller,
): ReadonlyMap<RateRule, readonly number[]> {
  const audience = audienceOf(caller);
  const label = rateLabelOf(caller);
  const counts = new Map<RateRule, number[]>();
  for (const [index, operation] of operations.entries()) {
    const paths = pathsOf(operation);
    const rules = actionsOf[operation.op].map((action) => choose({ paths, action, audience, label }));
    for (const rule of new Set(rules)) {
      if (!rule) continue;
      const indexes = counts.get(rule) ?? [];
      indexes.push(index);
      counts.set(rule, indexes);
    }
  }
  const own = choose({ paths: [batchPath], action: undefined, audience, label });
  const ofOwn = own && counts.get(own)?.slice(1);
  if (own && ofOwn) counts.set(own, ofOwn);
  return new Map([...counts].filter(([, indexes]) => indexes.length > 0));
}

/** The single write's paths. */
function pathsOf({ op, collection, id }: Operation): readonly string[] {
  const named = typeof id === 'object' ? id.text : id;
  const rest = op === 'create' || named === undefined ? collection : `${collection}/${named}`;
  return prefixes.map((prefix) => `${prefix}/${rest}`);
}

/** The count under a rule. */
interface Taken {
  readonly rule: RateRule;
  readonly key: string;
  readonly count: number;
  readonly window: Awaited<ReturnType<typeof takeIfLeft>>;
}

async function take(query: Query, rule: RateRule, indexes: readonly number[], caller: Caller): Promise<Taken> {
  const { max, windowMs } = rule;
  const key = windowKey(rule, rateCaller(caller));
  const count = indexes.length;
  const window = await takeIfLeft(query, { key, windowMs, count, max });
  const taken = { rule, key, count, window };
  if (window.isTaken) return taken;
  const { status, code, message, headers } = rateLimited(resetSec(window));
  const over = indexes[Math.max(0, max - window.used)] ?? 0;
  throw refusalAt(over, new AppError(status, code, message, { headers: { ...headers, ...headersOf([taken]) } }));
}

const resetSec = ({ leftMs }: { readonly leftMs: number }): number => Math.max(1, Math.ceil(leftMs / 1000));

const remaining = ({ rule, window }: Taken): number => Math.max(0, rule.max - window.used);

function headersOf(taken: readonly Taken[]): Readonly<Record<string, string>> {
  const [least] = [...taken].sort((a, b) => remaining(a) - remaining(b));
  if (!least) return {};
  return {
    'RateLimit-Limit': String(least.rule.max),
    'RateLimit-Remaining': String(remaining(least)),
    'RateLimit-Reset': String(resetSec(least.window)),
  };
}
