import { isIPv4 } from 'node:net';
import { isIPv4Mapped, parseAddress } from '@recordbus/egress';

/**
 * Returns the one text for an address: IPv4-mapped IPv6 as IPv4, IPv6 in its shortest form, without port, brackets and
 * zone (http §9.3). Undefined when the text is not an address.
 */
export function normalizeAddress(text: string): string | undefined {
  // A socket address in its usual form.
  const plain = text.startsWith('::ffff:') ? text.slice(7) : text;
  if (isIPv4(plain)) return plain;
  const [bare = ''] = withoutPort(text.trim()).split('%');
  const address = parseAddress(bare);
  if (!address) return undefined;
  if (address.family === 4) return bare;
  if (!isIPv4Mapped(address)) return new URL(`http://[${bare}]/`).hostname.slice(1, -1);
  return [24n, 16n, 8n, 0n].map((shift) => (address.value >> shift) & 0xffn).join('.');
}

/** Removes the port: `1.2.3.4:80` and `[::1]:80` have one, `::1` has none. */
function withoutPort(text: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text);
  return bracketed ? (bracketed[1] ?? '') : text.replace(/^([\d.]+):\d{1,5}$/, '$1');
}
