import { isIPv6 } from 'node:net';

/** Returns a client's key: an IPv4 address, or an IPv6 address's /64, which is usually one household. */
export function clientKey(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail] = (address.toLowerCase().split('%', 1)[0] ?? '').split('::');
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) {
    const rest = tail === '' ? [] : tail.split(':');
    while (groups.length + rest.length < 8) groups.push('0');
    groups.push(...rest);
  }
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}
