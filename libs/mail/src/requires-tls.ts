import { BlockList, isIP } from 'node:net';
import type { Settings } from '@recordbus/settings';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/**
 * Whether mail is sent over TLS only: smtp.require_tls decides, and without it whether mail leaves this machine (mail
 * §1.3).
 */
export const requiresTls = (settings: Pick<Settings, 'get'>): boolean =>
  settings.get('smtp.require_tls') ?? !isThisMachine(settings.get('smtp.host'));

/** `localhost` and the names below it are the loopback everywhere (RFC 6761 §6.3). */
function isThisMachine(host: string): boolean {
  const version = isIP(host);
  if (version !== 0) return loopback.check(host, version === 6 ? 'ipv6' : 'ipv4');
  return /(^|\.)localhost\.?$/i.test(host);
}
