import { type Cidr, findCidr, parseCidrList, splitList, validateCidrList } from './cidr.ts';
import { reachableAddresses } from './embedded-addresses.ts';
import { parseAddress } from './parse-address.ts';

/** Denied ranges and their exceptions. Everything passes when `filtering` is false. */
export type EgressRules = {
  readonly filtering: boolean;
  readonly deny: readonly Cidr[];
  readonly allow: readonly Cidr[];
};

/** A denied address and the range that denies it, as written in the list. */
export type DeniedAddress = { readonly address: string; readonly range: string };

/**
 * The ranges that are denied by default (webhooks §7.1; IANA special-purpose registries).
 * The documentation ranges are absent: nothing answers there, so there is nothing to protect.
 */
export const DEFAULT_DENY = [
  '0.0.0.0/8', // unspecified: most systems connect 0.0.0.0 to themselves
  '10.0.0.0/8', // RFC 1918
  '100.64.0.0/10', // CGNAT
  '127.0.0.0/8', // loopback
  '169.254.0.0/16', // link-local, metadata services
  '172.16.0.0/12', // RFC 1918
  '192.0.0.0/24', // IETF protocol assignments
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // RFC 1918
  '198.18.0.0/15', // benchmarking
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved and broadcast
  '::/128', // unspecified
  '::1/128', // loopback
  '100::/64', // discard
  '2001::/32', // Teredo
  '5f00::/16', // segment routing
  'fc00::/7', // unique local
  'fe80::/10', // link-local
  'fec0::/10', // site-local
  'ff00::/8', // multicast
].join(',');

const OFF = 'off';
const defaultDeny = parseCidrList(DEFAULT_DENY);

/**
 * Parses the two settings (webhooks §7.1): comma-separated CIDRs or single addresses.
 * A deny list replaces the default, an empty one means the default, `off` disables the filter.
 * Throws an Error that names the first bad entry.
 */
export function parseEgressRules(lists: { readonly deny: string; readonly allow: string }): EgressRules {
  const allow = parseCidrList(lists.allow);
  if (isOff(lists.deny)) return { filtering: false, deny: [], allow };
  const isEmpty = splitList(lists.deny).length === 0;
  return { filtering: true, deny: isEmpty ? defaultDeny : parseCidrList(lists.deny), allow };
}

/** Like `validateCidrList`, for the deny list, which may also be `off`. */
export function validateDenyList(text: string): string | undefined {
  return isOff(text) ? undefined : validateCidrList(text);
}

/**
 * Checks an IP address; returns undefined when it is allowed. A zone id is ignored.
 * A text that is not an address is denied, because its target is unknown.
 */
export function checkAddress(rules: EgressRules, address: string): DeniedAddress | undefined {
  if (!rules.filtering) return undefined;
  const zoneAt = address.indexOf('%');
  const parsed = parseAddress(zoneAt === -1 ? address : address.slice(0, zoneAt));
  if (!parsed) return { address, range: 'unknown (not an IP address)' };
  for (const reachable of reachableAddresses(parsed)) {
    const denied = findCidr(rules.deny, reachable);
    if (denied && !findCidr(rules.allow, reachable)) return { address, range: denied.text };
  }
  return undefined;
}

function isOff(text: string): boolean {
  return text.trim().toLowerCase() === OFF;
}
