import type { NodeConnectionOptions } from '@nats-io/transport-node';

type Addresses = Pick<NodeConnectionOptions, 'servers' | 'user' | 'pass' | 'token' | 'tls'>;

/**
 * Reads server URLs separated by commas: `nats://host`, `nats://user:password@host`, `nats://token@host`, or the same
 * with `tls://`. The client takes credentials separately and one pair for all servers, so those of the first URL that
 * has any are used. Throws TypeError for a text that is not a URL.
 */
export function readServerAddresses(urls: string): Addresses {
  const parsed = urls.split(',').map((url) => new URL(url.trim()));
  const withCredentials = parsed.find(({ username }) => username !== '');
  const user = decodeURIComponent(withCredentials?.username ?? '');
  const pass = decodeURIComponent(withCredentials?.password ?? '');
  return {
    servers: parsed.map(({ hostname, port }) => `${hostname}:${port || 4222}`),
    ...(user && (pass ? { user, pass } : { token: user })),
    ...(parsed.some(({ protocol }) => protocol === 'tls:') && { tls: {} }),
  };
}
