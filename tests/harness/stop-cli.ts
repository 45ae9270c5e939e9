import pg from 'pg';
import { startCli } from './cli.ts';
import { eventually } from './eventually.ts';

interface StopOptions {
  readonly signal: NodeJS.Signals;
  readonly databaseUrl: string;
  /** The table, quoted, that the command needs and does not get. */
  readonly table: string;
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Stops a command in the middle: sends it the signal when it waits for a table that somebody else holds. Gives its exit
 * code and what it wrote, as soon as the database has forgotten it.
 */
export async function stopCli(
  args: readonly string[],
  { signal, databaseUrl, table, environment }: StopOptions,
): Promise<[code: number | null, written: string]> {
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  const isThere = async (condition: string): Promise<boolean> => {
    // Within a transaction what is shown of the activity stays the same unless it is forgotten.
    await database.query('select pg_stat_clear_snapshot()');
    const { rows } = await database.query(
      `select from pg_stat_activity where datname = current_database() and ${condition}`,
    );
    return rows.length > 0;
  };
  try {
    await database.query(`begin; lock table ${table} in access exclusive mode`);
    const command = startCli(args, { environment });
    await eventually('the command waits', () => isThere("wait_event_type = 'Lock'"), { timeoutMs: 60_000 });
    command.kill(signal);
    const { code } = await command.exited;
    await database.query('rollback');
    // Of a killed command the server hears when it has something to tell it.
    await eventually('its connection is gone', async () => !(await isThere("application_name like 'recordbus cli%'")));
    return [code, command.lines.join('\n')];
  } finally {
    await database.end();
  }
}
