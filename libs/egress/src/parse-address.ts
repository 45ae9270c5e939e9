import { isIPv4, isIPv6 } from 'node:net';

/** An IP address as a number, so that a range check is one shift and one comparison. */
export type Address = { readonly family: 4 | 6; readonly value: bigint };

/** Parses an IPv4 or IPv6 address in its canonical text forms; undefined for other texts and for zone ids. */
export function parseAddress(text: string): Address | undefined {
  if (isIPv4(text)) return { family: 4, value: parseIPv4(text) };
  if (isIPv6(text) && !text.includes('%')) return { family: 6, value: parseIPv6(text) };
  return undefined;
}

/** Whether the address is ::ffff:a.b.c.d (RFC 4291 §2.5.5.2). */
export function isIPv4Mapped({ family, value }: Address): boolean {
  return family === 6 && value >> 32n === 0xffffn;
}

/** Returns the IPv4 address in the low 32 bits. */
export function toIPv4(value: bigint): Address {
  return { family: 4, value: value & 0xffffffffn };
}

function parseIPv4(text: string): bigint {
  return BigInt(text.split('.').reduce((value, part) => value * 256 + Number(part), 0));
}

function parseIPv6(text: string): bigint {
  const gapAt = text.indexOf('::');
  if (gapAt === -1) return joinGroups(toGroups(text));
  const head = toGroups(text.slice(0, gapAt));
  const tail = toGroups(text.slice(gapAt + 2));
  const zeros = new Array<bigint>(8 - head.length - tail.length).fill(0n);
  return joinGroups([...head, ...zeros, ...tail]);
}

/** Returns the 16-bit groups on one side of `::`. A dotted tail is two groups. */
function toGroups(text: string): bigint[] {
  if (text === '') return [];
  return text.split(':').flatMap((part) => {
    if (!part.includes('.')) return [BigInt(`0x${part}`)];
    const value = parseIPv4(part);
    return [value >> 16n, value & 0xffffn];
  });
}

function joinGroups(groups: readonly bigint[]): bigint {
  return groups.reduce((value, group) => (value << 16n) | group, 0n);
}
