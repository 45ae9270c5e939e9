import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { StartFailure } from '@recordbus/process/start-failure';
import pg from 'pg';

/** The file is shared with docker-compose.yml, where psql runs it. */
const statements = fileURLToPath(new URL('../roles.sql', import.meta.url));

/** The services' role. It owns the database and is not a superuser. */
export const ownerName = 'recordbus_owner';

/**
 * Creates a database's roles and transfers everything in it to its owner, even in an earlier version's cluster, whose
 * services connected as the superuser. Runs in one transaction and can be repeated. `url` connects as a superuser.
 */
export async function createRoles(url: string, password: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: 'recordbus start' });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query("select set_config('recordbus.owner', $1, false), set_config('recordbus.password', $2, false)", [
      ownerName,
      password,
    ]);
    await client.query(await readFile(statements, 'utf8'));
  } catch (error) {
    throw new StartFailure(
      `The database roles could not be created: ${error instanceof Error ? error.message : error}.`,
    );
  } finally {
    await client.end().catch(() => {});
  }
}
