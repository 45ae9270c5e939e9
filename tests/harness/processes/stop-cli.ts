import pg from 'pg';
import { eventually } from '../eventually.ts';
import { startCli } from './cli.ts';

interface StopOptions {
  readonly signal: NodeJS.Signals;
  readonly databaseUrl: string;
  /** The quoted name of a locked table that the command needs. */
  readonly table: string;
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Stops a running command: sends it the signal while it waits for a locked table. Returns its exit code and output after
 * its connection to the database has ended.
 */
export async function stopCli(
  args: readonly string[],
  { signal, databaseUrl, table, environment }: StopOptions,
): Promise<[code: number | null, written: string]> {
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  const hasConnection = async (condition = 'true'): Promise<boolean> => {
    // Within a transaction the activity view is cached until the snapshot is cleared.
    await database.query('select pg_stat_clear_snapshot()');
    const { rows } = await database.query(
      `select from pg_stat_activity
        where datname = current_database() and application_name like 'recordbus cli%' and ${condition}`,
    );
    return rows.length > 0;
  };
  try {
    await database.query(`begin; lock table ${table} in access exclusive mode`);
    const command = startCli(args, { environment });
    await eventually('the command waits', () => hasConnection("wait_event_type = 'Lock'"));
    command.kill(signal);
    const { code } = await command.exited;
    await database.query('rollback');
    // The server notices a killed client when it sends to it.
    await eventually('its connection has ended', async () => !(await hasConnection()));
    return [code, command.lines.join('\n')];
  } finally {
    await database.end();
  }
}
