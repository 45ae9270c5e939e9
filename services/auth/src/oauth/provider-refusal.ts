import { memberOf, type ProviderAnswer } from './provider-http.ts';

const maxLength = 500;

/** The places where providers put an error: codes before sentences. */
const places: readonly (readonly (string | number)[])[] = [
  ['error'],
  ['error', 'code'],
  ['error', 'type'],
  ['error_description'],
  ['error', 'message'],
  ['message'],
  ['errors', 0, 'title'],
  ['errors', 0, 'detail'],
  ['errors', 0, 'message'],
  ['title'],
  ['detail'],
];

/**
 * Returns the message in a provider's refusal in one line with at most 500 characters, or its status if it has none.
 * Secrets from the request that the provider repeats are removed (oauth §7).
 */
export function readRefusal({ status, json }: ProviderAnswer, secrets: readonly string[] = []): string {
  const texts = places.map((path) => memberOf(json, ...path)).filter((text) => typeof text === 'string' && text !== '');
  const words = [...new Set(texts)].join(': ') || `status ${status}`;
  return secrets
    .filter((secret) => secret !== '')
    .flatMap((secret) => [secret, encodeURIComponent(secret)])
    .reduce((line, secret) => line.replaceAll(secret, '…'), words.replace(/[\p{Cc}\u2028\u2029]+/gu, ' '))
    .slice(0, maxLength);
}
