import type { EgressClient } from '@recordbus/egress';
import type { CaptchaSetting } from '@recordbus/settings';
import { verifyAtSite } from './siteverify.ts';

/**
 * Asks a collection's provider about an answer that nobody solved. Returns why its captchas keep nobody out; undefined if
 * the provider knows the secret key and refuses the answer. Asks nobody for a proof of work.
 */
export async function findProviderProblem(
  client: Pick<EgressClient, 'request'>,
  { provider, verify_url: verifyUrl }: CaptchaSetting,
  secret: string,
  nowSec: number,
): Promise<string | undefined> {
  if (provider === 'altcha') return undefined;
  const unsolved = { answer: 'recordbus-doctor', clientAddress: undefined, hostnames: [] };
  const verdict = await verifyAtSite(client, { provider, secret, verifyUrl, ...unsolved }, nowSec);
  if (verdict.outcome === 'refused') return undefined;
  return verdict.outcome === 'away' ? verdict.reason : 'it accepts any answer, as with a secret key for tests';
}
