import { type Address, isIPv4Mapped, parseAddress, toIPv4 } from './parse-address.ts';

/** An address range. `text` is the entry as written, for messages. */
export type Cidr = {
  readonly text: string;
  readonly family: 4 | 6;
  readonly network: bigint;
  readonly shift: bigint;
};

/** Parses `10.0.0.0/8`, `fd00::/8` or a single address; host bits are ignored. Returns undefined for other texts. */
function parseCidr(text: string): Cidr | undefined {
  const slashAt = text.indexOf('/');
  const address = parseAddress(slashAt === -1 ? text : text.slice(0, slashAt));
  if (!address) return undefined;
  const width = address.family === 4 ? 32 : 128;
  const prefixText = slashAt === -1 ? String(width) : text.slice(slashAt + 1);
  if (!/^\d{1,3}$/.test(prefixText) || Number(prefixText) > width) return undefined;
  return toCidr(text, address, Number(prefixText));
}

function toCidr(text: string, address: Address, prefix: number): Cidr {
  // Mapped addresses are checked as IPv4 only, so a range in the mapped form becomes IPv4 too.
  if (isIPv4Mapped(address) && prefix >= 96) return toCidr(text, toIPv4(address.value), prefix - 96);
  const { family, value } = address;
  const shift = BigInt((family === 4 ? 32 : 128) - prefix);
  return { text, family, network: value >> shift, shift };
}

/** Finds the first range that contains the address. */
export function findCidr(cidrs: readonly Cidr[], address: Address): Cidr | undefined {
  return cidrs.find((cidr) => cidr.family === address.family && address.value >> cidr.shift === cidr.network);
}

/** Whether the outer range has every address in the inner one. */
export const isWithin = (inner: Cidr, outer: Cidr): boolean =>
  inner.family === outer.family &&
  inner.shift <= outer.shift &&
  inner.network >> (outer.shift - inner.shift) === outer.network;

/** Whether one of the ranges contains an address, given as text. */
export function containsAddress(cidrs: readonly Cidr[], text: string): boolean {
  const address = parseAddress(text);
  return address !== undefined && findCidr(cidrs, address) !== undefined;
}

/** Splits a comma-separated list into trimmed entries, without empty ones. */
export function splitList(text: string): string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

/**
 * Parses a comma-separated list of CIDRs and single addresses.
 * Throws an Error that names the first bad entry.
 */
export function parseCidrList(text: string): Cidr[] {
  return splitList(text).map((entry) => {
    const cidr = parseCidr(entry);
    if (!cidr) throw new Error(`not an IP address or CIDR range: "${entry}"`);
    return cidr;
  });
}

/** Returns a sentence about the first bad entry in a comma-separated CIDR list; undefined for a good or empty list. */
export function validateCidrList(text: string): string | undefined {
  const bad = splitList(text).find((entry) => !parseCidr(entry));
  return bad === undefined ? undefined : `not an IP address or CIDR range: "${bad}"`;
}
