import { Socket } from 'node:net';
import type pg from 'pg';
import type { OpenConnection } from '../servers/lost-connections.ts';
import type { Primary } from '../servers/primary.ts';

/** A setting that a server reports. */
interface Parameter {
  readonly parameterName: string;
  readonly parameterValue: string;
}

/**
 * Connects a client to the server that takes writes. It ends when another server becomes the primary. Throws if the
 * connection fails, or if the server has become a standby.
 */
export async function connectToPrimary(
  client: pg.Client,
  primary: Primary,
  connect: () => Promise<unknown>,
): Promise<pg.Client> {
  const server = await primary.find();
  const { host, port } = server;
  // A single server's URL may name a socket, which the driver reads from the URL.
  if (primary.hasSeveral) Object.assign(client, { host, port });
  let isStandby = false;
  client.connection.on('parameterStatus', ({ parameterName, parameterValue }: Parameter) => {
    if (parameterName === 'in_hot_standby') isStandby = parameterValue === 'on';
  });
  try {
    await connect();
    if (isStandby) throw new Error('Connection terminated: the server is a standby');
  } catch (error) {
    primary.suspect(server);
    client.connection.stream.destroy();
    throw error;
  }
  const forget = primary.hold(server, openConnection(client));
  client.once('end', forget);
  // The event comes only if this process did not end the connection.
  client.once('error', () => primary.suspect(server));
  return client;
}

function openConnection(client: pg.Client): OpenConnection {
  const { stream } = client.connection;
  return {
    processId: client.processID ?? undefined,
    isWaiting: () => !client.readyForQuery,
    receivedBytes: () => (stream instanceof Socket ? stream.bytesRead : 0),
    end: (reason) => stream.destroy(reason),
  };
}
