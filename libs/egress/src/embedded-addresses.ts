import { findCidr, parseCidrList } from './cidr.ts';
import { type Address, isIPv4Mapped, toIPv4 } from './parse-address.ts';

const unspecifiedAndLoopback = parseCidrList('::/127');
/** IPv4-compatible (RFC 4291 §2.5.5.1), IPv4-translated (RFC 2765), NAT64 (RFC 6052, RFC 8215). */
const inLow32Bits = parseCidrList('::/96, ::ffff:0:0:0/96, 64:ff9b::/96, 64:ff9b:1::/48');
const localNat64 = parseCidrList('64:ff9b:1::/48');
const sixToFour = parseCidrList('2002::/16');

/**
 * Returns the addresses at which a connection to `address` can end: itself and the IPv4 addresses that it embeds.
 * An IPv4-mapped address is only its IPv4 address, because the kernel opens an IPv4 connection for it.
 */
export function reachableAddresses(address: Address): Address[] {
  if (address.family === 4) return [address];
  if (isIPv4Mapped(address)) return [toIPv4(address.value)];
  return [address, ...embeddedIPv4(address)];
}

function embeddedIPv4(address: Address): Address[] {
  const { value } = address;
  if (findCidr(sixToFour, address)) return [toIPv4(value >> 80n)];
  if (!findCidr(inLow32Bits, address) || findCidr(unspecifiedAndLoopback, address)) return [];
  const endsInZeros = (value & 0xffffffn) === 0n;
  return findCidr(localNat64, address) && endsInZeros ? shorterNat64Layouts(value) : [toIPv4(value)];
}

/**
 * RFC 6052 §2.2 puts the IPv4 address behind a /48, /56 or /64 prefix, around the zero octet at bits 64 to 71, and pads
 * with zeros. Only the operator knows the prefix length, so every layout that fits is checked.
 */
function shorterNat64Layouts(value: bigint): Address[] {
  const withoutOctet = ((value >> 64n) << 56n) | (value & 0xffffffffffffffn);
  return [48n, 56n, 64n].flatMap((prefix) => {
    const suffixBits = 88n - prefix;
    const fits = (withoutOctet & ((1n << suffixBits) - 1n)) === 0n;
    return fits ? [toIPv4(withoutOctet >> suffixBits)] : [];
  });
}
