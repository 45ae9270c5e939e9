import { setTimeout as delay } from 'node:timers/promises';
import { ConfigError } from '@recordbus/shared/config';
import type { Logger } from '@recordbus/shared/logging';
import type { Pool, PoolClient } from 'pg';
import { migrationNames } from './migrations/index.ts';
import type { Query } from './statement.ts';

/** How often a replica that waits asks whether it is its turn, in milliseconds. */
const turnPollMs = 50;

/** The server ends a transaction that says nothing for 30 s, so that of a machine that vanished; ours speaks sooner. */
const signOfLifeMs = 10_000;

/**
 * Brings the schema `system` up to date. Any number of replicas may call it at once: the first one in does the work,
 * the others wait. Throws a sentence for a database of a newer version, and what the failing migration threw; nothing
 * of it stays.
 */
export async function migrate(query: Query, pool: Pool, log: Logger): Promise<void> {
  if (await isUpToDate(query)) return;
  await inTurn(pool, async () => {
    if (await isUpToDate(query)) return;
    // Loaded here, since most starts find nothing to do.
    const { runMigrations } = await import('./run-migrations.ts');
    const migrated = await runMigrations(pool);
    if (migrated.length > 0) log.info({ migrated }, 'the system tables are up to date');
  });
}

async function isUpToDate(query: Query): Promise<boolean> {
  const applied = await findApplied(query);
  const unknown = applied.filter((name) => !migrationNames.includes(name));
  if (unknown.length > 0)
    throw new ConfigError(
      `The database was made by a newer version: it has ${unknown.join(', ')}. Run that version; the only way back is a backup.`,
    );
  return applied.length === migrationNames.length;
}

/**
 * Runs the work on one replica after the other. Who waits asks again and again: a statement that waits for a lock would
 * be ended by its timeout while another replica changes large tables.
 */
async function inTurn(pool: Pool, work: () => Promise<void>): Promise<void> {
  const client = await pool.connect();
  // Lost while others work it would end the process; Kysely's own lock still keeps a second replica out.
  client.on('error', () => {});
  let signsOfLife: NodeJS.Timeout | undefined;
  try {
    // In a transaction, and not of the session, which a pooler between here and the server may give to somebody else.
    await client.query('begin');
    while (!(await isOurTurn(client))) await delay(turnPollMs);
    signsOfLife = setInterval(() => client.query('select').catch(() => {}), signOfLifeMs);
    await work();
  } finally {
    clearInterval(signsOfLife);
    // The end of the connection ends the transaction, and with it the lock.
    client.release(true);
  }
}

async function isOurTurn(client: PoolClient): Promise<boolean> {
  const { rows } = await client.query<{ isOurs: boolean }>(
    `select pg_try_advisory_xact_lock(hashtext('recordbus.system')) as "isOurs"`,
  );
  return rows[0]?.isOurs === true;
}

/** Names of the migrations that the database has. */
async function findApplied(query: Query): Promise<string[]> {
  const table = 'system.kysely_migration';
  const [found] = await query<{ isThere: boolean }>({
    text: 'select to_regclass($1) is not null as "isThere"',
    values: [table],
  });
  if (!found?.isThere) return [];
  const rows = await query<{ name: string }>({ text: `select name from ${table}`, values: [] });
  return rows.map(({ name }) => name);
}
