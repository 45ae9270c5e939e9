import { clientKey } from '@recordbus/shared/client-key';
import { rateLimited } from '@recordbus/shared/errors';
import type { ChooseRule } from '../rate-limit/choose-rule.ts';
import type { Limiter, Verdict } from '../rate-limit/limiter.ts';
import { resourcePaths } from '../rate-limit/resource-paths.ts';
import { type Exchange, type GatewayResponse, isProbe, type Step } from './exchange.ts';

/** Refuses a request that is one too many for its caller (interface §2.7). */
export function limitRate(rules: () => ChooseRule | undefined, limiter: Limiter): Step {
  return (request, response, next) => {
    const { exchange } = response.locals;
    const choose = isProbe(exchange) ? undefined : rules();
    const rule = choose?.({
      paths: resourcePaths(request.url, exchange),
      action: exchange.route?.action,
      audience: exchange.context.principal.type === 'guest' ? 'guest' : 'auth',
    });
    if (!rule) {
      next();
      return;
    }
    exchange.rateRule = rule.label;
    const verdict = limiter.count(rule, callerOf(exchange));
    if (verdict instanceof Promise) return verdict.then((known) => settle(response, known, next));
    settle(response, verdict, next);
  };
}

function settle(response: GatewayResponse, verdict: Verdict, next: () => void): void {
  response.setHeader('RateLimit-Limit', verdict.limit);
  response.setHeader('RateLimit-Remaining', verdict.remaining);
  response.setHeader('RateLimit-Reset', verdict.resetSec);
  if (!verdict.allowed) throw rateLimited(verdict.resetSec);
  next();
}

/** Signing in is counted by address under whatever rule, whoever is signed in already (contract §7). */
function callerOf({ route, context: { principal, clientAddress } }: Exchange): string {
  if (route?.action === 'auth' || principal.type === 'guest') return `client ${clientKey(clientAddress)}`;
  return principal.type === 'admin' ? `admin ${principal.id}` : `user ${principal.collection} ${principal.id}`;
}
