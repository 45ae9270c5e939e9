import type { Query } from '@recordbus/database';
import { AppError, rateLimited } from '@recordbus/errors';
import {
  audienceOf,
  type ChooseRule,
  createChooseRule,
  giveBack,
  isCounted,
  rateCaller,
  rateLabelOf,
  takeIfLeft,
  windowKey,
} from '@recordbus/rate-limits';
import type { RequestContext } from '@recordbus/request/context';
import type { RateRule, Settings } from '@recordbus/settings';
import { refusalAt } from './batch-refusal.ts';
import type { Operation, OperationVerb } from './operation.ts';

/** Counts what a request does together for the rate limits, each like a request of its own (batch §1.4, search §6.3). */
export interface OperationLimits {
  /**
   * Counts a batch's operations under their rules, or none. Returns the headers for the rule with the least left.
   * Throws 429 with the index of the first operation that is over a limit.
   */
  count(operations: readonly Operation[], caller: Caller): Promise<Readonly<Record<string, string>>>;
  /** Counts a request's lists of these collections in the same way. The gateway has counted it as a list at `path`. */
  countLists(path: string, collections: readonly string[], caller: Caller): Promise<Readonly<Record<string, string>>>;
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

  async function takeAll(parts: readonly Part[], request: RequestPart, caller: Caller) {
    if (!settings.get('rate_limit.enabled') || !isCounted(caller)) return {};
    const counts = countsOf(parts, request, chooseBy(settings.get('rate_limit.rules')), caller);
    const taken: Taken[] = [];
    try {
      for (const [rule, indexes] of counts) taken.push(await take(query, rule, indexes, caller));
    } catch (error) {
      for (const { key, count, window } of taken) await giveBack(query, { key, count, endsAtMs: window.endsAtMs });
      throw error;
    }
    return headersOf(taken);
  }

  return {
    count: (operations, caller) =>
      takeAll(
        operations.map((operation) => ({ paths: pathsOf(operation), actions: actionsOf[operation.op] })),
        { path: batchPath, action: undefined },
        caller,
      ),
    countLists: (path, collections, caller) =>
      takeAll(
        collections.map((collection) => ({ paths: pathsBelow(collection), actions: ['list'] })),
        { path, action: 'list' },
        caller,
      ),
  };
}

/** One of the things that a request does: its paths and actions as a request of its own. */
interface Part {
  readonly paths: readonly string[];
  readonly actions: readonly RateRule['action'][];
}

/** The request itself, as the gateway has counted it. */
interface RequestPart {
  readonly path: string;
  readonly action: RateRule['action'];
}

/** Which parts each rule counts, by index. The request counts as the first part under its own rule. */
function countsOf(
  parts: readonly Part[],
  request: RequestPart,
  choose: ChooseRule,
  caller: Caller,
): ReadonlyMap<RateRule, readonly number[]> {
  const audience = audienceOf(caller);
  const label = rateLabelOf(caller);
  const counts = new Map<RateRule, number[]>();
  for (const [index, { paths, actions }] of parts.entries()) {
    const rules = actions.map((action) => choose({ paths, action, audience, label }));
    for (const rule of new Set(rules)) {
      if (!rule) continue;
      const indexes = counts.get(rule) ?? [];
      indexes.push(index);
      counts.set(rule, indexes);
    }
  }
  const own = choose({ paths: [request.path], action: request.action, audience, label });
  const ofOwn = own && counts.get(own)?.slice(1);
  if (own && ofOwn) counts.set(own, ofOwn);
  return new Map([...counts].filter(([, indexes]) => indexes.length > 0));
}

/** The single write's paths. */
function pathsOf({ op, collection, id }: Operation): readonly string[] {
  const named = typeof id === 'object' ? id.text : id;
  return pathsBelow(op === 'create' || named === undefined ? collection : `${collection}/${named}`);
}

const pathsBelow = (rest: string): readonly string[] => prefixes.map((prefix) => `${prefix}/${rest}`);

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
