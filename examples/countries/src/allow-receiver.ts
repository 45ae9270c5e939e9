import { lookup } from 'node:dns/promises';
import { BlockList, isIPv6 } from 'node:net';
import type { BorrowedSettings } from './borrowed-settings.ts';

/**
 * Allows the receiver's address if needed: webhooks never call private addresses unless the settings allow them. Returns
 * the added range, or undefined.
 */
export async function allowReceiver(settings: BorrowedSettings, host: string): Promise<string | undefined> {
  const address = await lookup(host).catch(() => undefined);
  // Only the stack's machine can resolve the name, so the operator has to allow its address.
  if (!address) return undefined;
  const { 'hooks.http.deny': deny = '', 'hooks.http.allow': allow = '' } = settings.before;
  const isDenied = deny !== 'off' && covers(deny, address.address);
  if (!isDenied || covers(allow, address.address)) return undefined;
  const range = `${address.address}/${address.family === 6 ? 128 : 32}`;
  await settings.change('hooks.http.allow', [allow, range].filter(Boolean).join(','));
  return range;
}

function covers(ranges: string, address: string): boolean {
  const list = new BlockList();
  for (const range of ranges.split(',')) {
    const [network = '', bits] = range.trim().split('/');
    if (!network) continue;
    const type = isIPv6(network) ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(network, type);
    else list.addSubnet(network, Number(bits), type);
  }
  return list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}
