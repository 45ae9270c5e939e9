import { clientKey } from '@recordbus/request/client-key';
import type { RequestContext } from '@recordbus/request/context';
import type { RateRule } from '@recordbus/settings';

type Caller = Pick<RequestContext, 'principal' | 'clientAddress'>;

/** The audience that a caller belongs to (http §8.6). */
export const audienceOf = ({ principal }: Pick<Caller, 'principal'>): 'guest' | 'auth' =>
  principal.type === 'guest' ? 'guest' : 'auth';

/** The label whose rules take precedence for a service key (keys §6); undefined for other callers. */
export const rateLabelOf = ({ principal }: Pick<Caller, 'principal'>): string | undefined =>
  principal.type === 'service' ? principal.rateLabel : undefined;

/** Whether rate limits count a caller's requests. Sign-ins always count (keys §6). */
export const isCounted = ({ principal }: Pick<Caller, 'principal'>, action?: RateRule['action']): boolean =>
  action === 'auth' || principal.type !== 'service' || !principal.isUncounted;

/** The key that requests are counted under. Sign-ins count by address, even with a valid token (http §8.7). */
export function rateCaller({ principal, clientAddress }: Caller, action?: RateRule['action']): string {
  if (action === 'auth' || principal.type === 'guest') return `client ${clientKey(clientAddress)}`;
  return principal.type === 'user'
    ? `user ${principal.collection} ${principal.id}`
    : `${principal.type} ${principal.id}`;
}

/** The name of a caller's window. A changed rule starts new windows. */
export const windowKey = ({ label, audience, max, windowMs }: RateRule, caller: string): string =>
  `${label} ${audience} ${max} ${windowMs} ${caller}`;
