import { commandPrefix } from '@recordbus/database';
import { CommandFailure } from '@recordbus/stack-calls';
import type pg from 'pg';

/** Throws CommandFailure when services are connected to the database: they would not notice the changes. */
export async function requireStoppedServices(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select distinct substr(application_name, 11) as name from pg_stat_activity
     where datname = current_database() and application_name like 'recordbus %' and application_name not like $1
     order by 1`,
    [`${commandPrefix}%`],
  );
  if (rows.length > 0)
    throw new CommandFailure(
      `Services are running on this database (${rows.map(({ name }) => name).join(', ')}): stop them first.`,
    );
}
