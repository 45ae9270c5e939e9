import { findCidr, parseAddress, parseCidrList } from '@recordbus/egress';
import { normalizeAddress } from './normalize-address.ts';

/** Returns the client's address, given the connection's peer and the X-Forwarded-For header. */
export type FindClient = (peer: string, forwardedFor: string | undefined) => string;

/**
 * Creates the search from the trusted proxies' CIDRs. `X-Forwarded-For` is read from the right: trusted addresses are
 * skipped, the first other address is the client, and an entry that is not an address ends the search (http §9.2).
 */
export function createFindClient(trustedProxies: readonly string[]): FindClient {
  const trusted = parseCidrList(trustedProxies.join(','));
  const isTrusted = (text: string): boolean => {
    const address = parseAddress(text);
    return address !== undefined && findCidr(trusted, address) !== undefined;
  };
  return (peer, forwardedFor) => {
    let client = normalizeAddress(peer) ?? peer;
    if (trusted.length === 0 || forwardedFor === undefined) return client;
    const entries = forwardedFor.split(',');
    while (entries.length > 0 && isTrusted(client)) {
      const next = normalizeAddress(entries.pop() ?? '');
      if (next === undefined) break;
      client = next;
    }
    return client;
  };
}
