import type { Socket } from 'node:net';
import type pg from 'pg';
import type { OpenConnection } from '../servers/lost-connections.ts';
import type { Primary } from '../servers/primary.ts';

/** The part of the driver's connection that @types/pg lacks: the settings that a server reports, and its socket. */
interface ReportingConnection {
  readonly stream: Socket;
  on(event: 'parameterStatus', listener: (status: { parameterName: string; parameterValue: string }) => void): unknown;
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
  // The URL of a single server may name a socket, which the driver reads from the URL.
  if (primary.hasSeveral) Object.assign(client, { host, port });
  let isStandby = false;
  (client.connection as unknown as ReportingConnection).on('parameterStatus', ({ parameterName, parameterValue }) => {
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

/** The parts of the driver's client that @types/pg lacks. */
interface ConnectedClient {
  readonly connection: ReportingConnection;
  readonly processID: number | null;
  /** Whether the server has answered everything that was sent. */
  readonly readyForQuery: boolean;
}

function openConnection(connected: pg.Client): OpenConnection {
  const client = connected as unknown as ConnectedClient;
  return {
    processId: client.processID ?? undefined,
    isWaiting: () => !client.readyForQuery,
    receivedBytes: () => client.connection.stream.bytesRead,
    end: (reason) => client.connection.stream.destroy(reason),
  };
}
