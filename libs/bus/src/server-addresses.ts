import type { NodeConnectionOptions } from '@nats-io/transport-node';
import { ConfigError } from '@recordbus/process/config';

type Addresses = Pick<NodeConnectionOptions, 'servers' | 'user' | 'pass' | 'token' | 'tls'>;

/**
 * Reads server URLs separated by commas: `nats://host`, `nats://user:password@host`, `nats://token@host`, or the same
 * with `tls://`. The client uses the credentials from the first URL that has some for all servers. Throws ConfigError
 * for a text that names no server. The message does not quote the text, which may contain a password.
 */
export function readServerAddresses(urls: string): Addresses {
  const parsed = urls.split(',').map((url) => readUrl(url.trim()));
  const withCredentials = parsed.find(({ username }) => username !== '');
  const user = decode(withCredentials?.username ?? '');
  const pass = decode(withCredentials?.password ?? '');
  return {
    servers: parsed.map(({ hostname, port }) => `${hostname}:${port || 4222}`),
    ...(user && (pass ? { user, pass } : { token: user })),
    ...(parsed.some(({ protocol }) => protocol === 'tls:') && { tls: {} }),
  };
}

function readUrl(text: string): URL {
  const url = URL.parse(text);
  if (!url?.hostname)
    throw new ConfigError('SERVICE_NATS_URL must be URLs with a host, such as nats://host:4222, separated by commas.');
  return url;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new ConfigError(
      'SERVICE_NATS_URL has a user or a password with a % that is not percent-encoding: write %25.',
    );
  }
}
