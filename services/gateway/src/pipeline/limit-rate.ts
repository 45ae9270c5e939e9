import { rateLimited } from '@recordbus/errors';
import { splitUrl } from '@recordbus/http';
import { audienceOf, type ChooseRule, isCounted, rateCaller, rateLabelOf } from '@recordbus/rate-limits';
import type { RateRule } from '@recordbus/settings';
import type { Limiter } from '../rate-limit/limiter.ts';
import type { Verdict } from '../rate-limit/window-share.ts';
import { type GatewayExchange, type GatewayResponse, isProbe, type Step } from './exchange.ts';

/** Refuses a request over its caller's rate limit (http §8). */
export function limitRate(rules: () => ChooseRule | undefined, limiter: Limiter): Step {
  return (request, response, next) => {
    const { exchange } = response.locals;
    const isFree = isProbe(exchange) || !isCounted(exchange.context, exchange.route?.action);
    const choose = isFree ? undefined : rules();
    const [rule, other] = choose ? rulesOf(choose, request.url, exchange) : [];
    if (!rule) {
      next();
      return;
    }
    exchange.rateRule = rule.label;
    const caller = rateCaller(exchange.context, exchange.route?.action);
    const verdict = other ? countUnderBoth(limiter, caller, rule, other) : limiter.count(rule, caller);
    if (verdict instanceof Promise) return verdict.then((settled) => settle(response, settled, next));
    settle(response, verdict, next);
  };
}

/** The rules that count a request: one for each of its actions, without duplicates. */
function rulesOf(choose: ChooseRule, url: string, exchange: GatewayExchange): readonly RateRule[] {
  const { route, context, isKeyRefused } = exchange;
  const paths = resourcePaths(url, exchange);
  const audience = audienceOf(context);
  const label = rateLabelOf(context);
  const action = isKeyRefused ? 'auth' : route?.action;
  const rule = choose({ paths, action, audience, label });
  const other = route?.otherAction && choose({ paths, action: route.otherAction, audience, label });
  return [...new Set([rule, other])].filter((one) => one !== undefined);
}

/**
 * Counts a request under its rules, one after the other. If one rule refuses it, the next does not count it. The
 * verdict comes from the rule with less left.
 */
async function countUnderBoth(limiter: Limiter, caller: string, rule: RateRule, other: RateRule): Promise<Verdict> {
  const first = await limiter.count(rule, caller);
  if (!first.allowed) return first;
  const second = await limiter.count(other, caller);
  return second.allowed && first.remaining <= second.remaining ? first : second;
}

function settle(response: GatewayResponse, verdict: Verdict, next: () => void): void {
  response.setHeader('RateLimit-Limit', verdict.limit);
  response.setHeader('RateLimit-Remaining', verdict.remaining);
  response.setHeader('RateLimit-Reset', verdict.resetSec);
  if (!verdict.allowed) throw rateLimited(verdict.resetSec);
  next();
}

/**
 * Returns every path to the requested resource: a rule for one of a record's three paths covers all of them (http
 * §8.5), and another spelling evades no rule. A request without a route has only its own path.
 */
const resourcePaths = (url: string, { route, params }: Pick<GatewayExchange, 'route' | 'params'>): readonly string[] =>
  route ? route.aliases.map((alias) => fill(alias, params)) : [splitUrl(url).path];

/** Replaces a declared path's parameters with their values. */
const fill = (path: string, params: GatewayExchange['params']): string =>
  path.replace(/:([^/]+)/g, (_, name: string) => params[name] ?? '');
