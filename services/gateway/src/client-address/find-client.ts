import { findCidr, parseAddress, parseCidrList } from '@recordbus/egress';
import { normaliseAddress } from './normalise-address.ts';

/** Finds who is behind the proxies in front of this gateway: the peer of the connection, and X-Forwarded-For. */
export type FindClient = (peer: string, forwardedFor: string | undefined) => string;

/**
 * Makes the search from the CIDRs of trusted proxies. `X-Forwarded-For` is read from the right: trusted addresses are
 * skipped, the first other one is the client, and an entry that is no address ends the walk (contract §7, §8).
 */
export function createFindClient(trustedProxies: readonly string[]): FindClient {
  const trusted = parseCidrList(trustedProxies.join(','));
  const isTrusted = (text: string): boolean => {
    const address = parseAddress(text);
    return address !== undefined && findCidr(trusted, address) !== undefined;
  };
  return (peer, forwardedFor) => {
    let client = normaliseAddress(peer) ?? peer;
    if (trusted.length === 0 || forwardedFor === undefined) return client;
    const entries = forwardedFor.split(',');
    while (entries.length > 0 && isTrusted(client)) {
      const next = normaliseAddress(entries.pop() ?? '');
      if (next === undefined) break;
      client = next;
    }
    return client;
  };
}
