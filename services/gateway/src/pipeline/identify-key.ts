import { AppError } from '@recordbus/errors';
import type { RefusedFor } from '../keys/refused-keys.ts';
import type { ServiceKeys } from '../keys/service-keys.ts';
import type { GatewayExchange } from './exchange.ts';

/** Whether a bearer token looks like a service key. */
export const isKeyText = (token: string): boolean => token.startsWith('rbk_');

/**
 * Sets the principal from a service key. Unlike an invalid token, an invalid key refuses the request (keys §2.3), since
 * a machine that sends a key means to use it.
 */
export async function identifyKey(
  keys: ServiceKeys,
  text: string,
  exchange: GatewayExchange,
  userAgent: string | undefined,
): Promise<void> {
  const { clientAddress } = exchange.context;
  const verdict = await keys.verify(text, clientAddress);
  if ('principal' in verdict) {
    const { principal } = verdict;
    keys.use.note(principal.id, clientAddress);
    exchange.context = { ...exchange.context, principal };
    return;
  }
  const { refusal: reason, id } = verdict;
  keys.refused.note({ reason, id, clientAddress, userAgent });
  exchange.isKeyRefused = true;
  exchange.refusal = keyRefused(reason);
}

const sentences: Readonly<Record<RefusedFor, string>> = {
  unknown: 'the service key is not valid',
  expired: 'the service key has expired',
  network: 'the service key may not be used from this address',
  url: 'a service key never goes into a URL: send it as a bearer token, and replace this one',
};

/** 401: the request's service key is refused. */
export const keyRefused = (reason: RefusedFor) =>
  new AppError(401, 'key_refused', sentences[reason], { headers: { 'WWW-Authenticate': 'Bearer' } });
