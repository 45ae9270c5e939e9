import { isIPv4 } from 'node:net';
import { isIPv4Mapped, parseAddress } from '@recordbus/egress';

/**
 * One text for one address: IPv4 as itself also where it is written as IPv6, IPv6 in its shortest form; ports,
 * brackets and zones dropped (contract §8, Rate rules). Undefined for what is no address.
 */
export function normaliseAddress(text: string): string | undefined {
  // As the sockets of most requests have it.
  const plain = text.startsWith('::ffff:') ? text.slice(7) : text;
  if (isIPv4(plain)) return plain;
  const [bare = ''] = withoutPort(text.trim()).split('%');
  const address = parseAddress(bare);
  if (!address) return undefined;
  if (address.family === 4) return bare;
  if (!isIPv4Mapped(address)) return new URL(`http://[${bare}]/`).hostname.slice(1, -1);
  return [24n, 16n, 8n, 0n].map((shift) => (address.value >> shift) & 0xffn).join('.');
}

/** `1.2.3.4:80` and `[::1]:80` name a port, `::1` does not. */
function withoutPort(text: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text);
  return bracketed ? (bracketed[1] ?? '') : text.replace(/^([\d.]+):\d{1,5}$/, '$1');
}
