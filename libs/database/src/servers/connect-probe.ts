import pg from 'pg';

/** How long a server may take to answer, in milliseconds. */
export const answerMs = 2000;

interface ProbeOptions {
  readonly url: string;
  /** Shown by PostgreSQL as application_name. */
  readonly name: string;
}

/**
 * Connects to one server to query its state. The connect and its statements throw if the server does not answer in
 * time.
 */
export async function connectProbe({ url, name }: ProbeOptions): Promise<pg.Client> {
  // Without startup settings, since a pooler refuses those that it does not know.
  const client = new pg.Client({
    connectionString: url,
    application_name: name,
    connectionTimeoutMillis: answerMs,
    query_timeout: answerMs,
    keepAlive: true,
  });
  client.on('error', () => {});
  await client.connect().catch((error: unknown) => {
    client.end().catch(() => {});
    throw error;
  });
  return client;
}
