import { memberOf, type ProviderAnswer } from './provider-http.ts';

const maxLength = 500;

/** Where providers put what went wrong: the code of it first, then the sentence. */
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
 * What a provider said of its refusal, in one bounded line; its status when it said nothing. What was sent and is not
 * for everybody's eyes is taken out, should the provider repeat it.
 */
export function wordsOf({ status, json }: ProviderAnswer, secrets: readonly string[] = []): string {
  const said = places.map((path) => memberOf(json, ...path)).filter((word) => typeof word === 'string' && word !== '');
  const words = [...new Set(said)].join(': ') || `status ${status}`;
  return secrets
    .filter((secret) => secret !== '')
    .flatMap((secret) => [secret, encodeURIComponent(secret)])
    .reduce((line, secret) => line.replaceAll(secret, '…'), words.replace(/[\p{Cc}\u2028\u2029]+/gu, ' '))
    .slice(0, maxLength);
}
