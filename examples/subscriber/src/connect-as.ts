import { connect, type NatsConnection } from '@nats-io/transport-node';

/** Connects to `nats://user:password@host:port`, and reconnects forever. */
export function connectAs(url: string, inboxPrefix?: string): Promise<NatsConnection> {
  const { hostname, port, username, password } = new URL(url);
  return connect({
    servers: `${hostname}:${port || 4222}`,
    ...(username && { user: decodeURIComponent(username), pass: decodeURIComponent(password) }),
    ...(inboxPrefix && { inboxPrefix }),
    // By default the client gives up after ten attempts.
    maxReconnectAttempts: -1,
    waitOnFirstConnect: true,
  });
}
