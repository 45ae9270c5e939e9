import type { LookupAddress } from 'node:dns';
import { lookup as dnsLookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { EgressBlockedError } from './egress-error.ts';
import { checkAddress, type EgressRules } from './egress-rules.ts';
import { parseTarget } from './parse-target.ts';

/** Returns a host name's addresses; rejects with the DNS error when there are none. */
export type LookupAll = (hostname: string) => Promise<readonly LookupAddress[]>;

/** A URL that passed the filter, with the addresses that were checked. */
export type CheckedTarget = { readonly url: URL; readonly addresses: readonly LookupAddress[] };

/** `localhost` and names below it, with or without a final dot, are the loopback everywhere (RFC 6761 §6.3). */
const LOCALHOST = /(^|\.)localhost\.?$/i;

const LOOPBACK: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/**
 * Uses the system's resolver with the hosts file, like a connection. `localhost` bypasses the resolver: resolvers
 * disagree on its dotted and deeper forms, and one without an answer would hide that they are the loopback.
 */
export const lookupAll: LookupAll = async (hostname) =>
  LOCALHOST.test(hostname) ? LOOPBACK : dnsLookup(hostname, { all: true });

/**
 * Checks a URL's addresses without connecting. Rejects with EgressBlockedError when any address is denied,
 * EgressFailedError when the URL is not usable, and the DNS error when the name does not resolve.
 */
export async function checkUrl(
  rules: EgressRules,
  url: string | URL,
  lookup: LookupAll = lookupAll,
): Promise<CheckedTarget> {
  const target = parseTarget(url);
  // The URL parser turns decimal, octal, short and full-width forms into dotted ones; it leaves the brackets.
  const host = target.hostname.startsWith('[') ? target.hostname.slice(1, -1) : target.hostname;
  return { url: target, addresses: await resolveChecked(rules, host, lookup) };
}

/**
 * Returns a host's addresses (for a name, or a literal without brackets) after checking all. One denied address denies
 * the host, because the name's owner must not choose which one a connection takes.
 */
export async function resolveChecked(
  rules: EgressRules,
  host: string,
  lookup: LookupAll,
): Promise<readonly LookupAddress[]> {
  const family = isIP(host);
  const addresses = family === 0 ? await lookup(host) : [{ address: host, family }];
  if (addresses.length === 0) throw Object.assign(new Error(`no address for ${host}`), { code: 'ENOTFOUND' });
  for (const { address } of addresses) assertAllowed(rules, host, address);
  return addresses;
}

/** Throws EgressBlockedError when the address is denied. */
export function assertAllowed(rules: EgressRules, host: string, address: string): void {
  const denied = checkAddress(rules, address);
  if (denied) throw new EgressBlockedError(host, denied);
}
