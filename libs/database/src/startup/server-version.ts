import { ConfigError } from '@recordbus/process/config';
import type { Query } from '../statement.ts';

/** The oldest supported PostgreSQL, as `server_version_num`. */
export const oldestServerVersion = 150_000;

/** Throws an explanation for a server that is too old. */
export async function requireServerVersion(query: Query): Promise<void> {
  const [server] = await query<{ version: string; number: number }>({
    text: `select current_setting('server_version') as version, current_setting('server_version_num')::integer as number`,
    values: [],
  });
  if (server && server.number < oldestServerVersion)
    throw new ConfigError(
      `SERVICE_DATABASE_URL names a PostgreSQL ${server.version}: ${oldestServerVersion / 10_000} or newer is needed.`,
    );
}
