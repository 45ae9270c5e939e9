import { lookup } from 'node:dns/promises';
import { BlockList, isIPv6 } from 'node:net';
import type { BorrowedSettings } from './borrowed-settings.ts';

/**
 * Webhooks never call private addresses unless the settings allow it. Allows the receiver's, if that is needed; answers
 * the range that was added, if one was.
 */
export async function allowReceiver(settings: BorrowedSettings, host: string): Promise<string | undefined> {
  const address = await lookup(host).catch(() => undefined);
  // A name that only the stack's machine knows; whoever gave it has to allow it.
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
