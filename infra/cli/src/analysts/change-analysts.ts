import { randomBytes } from 'node:crypto';
import { openAnalystSchema } from '@recordbus/admin';
import { isDatabaseError } from '@recordbus/database';
import { superuserUrl } from '@recordbus/embedded';
import { quoteIdentifier } from '@recordbus/schema';
import { CommandFailure } from '@recordbus/stack-calls';
import pg from 'pg';
import { type Deployment, openDeployment } from '../deployment/open-deployment.ts';
import type { CommandParts, CommonOptions } from '../run-command.ts';

export interface AnalystOptions extends CommonOptions {
  readonly as?: string;
}

/** Names that need no quotes in SQL. PostgreSQL's and the product's own names begin differently. */
const namePattern = /^(?!pg_|recordbus)[a-z][a-z0-9_]{0,62}$/;

/** SQLSTATEs: a role lacks the permission; a role exists already. */
const [notAllowed, exists] = ['42501', '42710'];

/** Limits for an analyst's session. A schema change waits for its statements. */
const sessionSettings: Readonly<Record<string, string>> = {
  default_transaction_read_only: 'on',
  statement_timeout: '60s',
  idle_in_transaction_session_timeout: '10s',
  search_path: 'analyst',
  timezone: 'UTC',
};
const connections = 5;

/** Creates a role and writes its URL. Throws CommandFailure when the name is taken or roles cannot be created. */
export async function create(parts: CommandParts, name: string, options: AnalystOptions): Promise<undefined> {
  requireName(name);
  const deployment = await openDeployment(parts);
  const { url, group } = await placeOf(parts, deployment);
  const password = randomBytes(24).toString('base64url');
  const role = quoteIdentifier(name);
  await withRoles(options.as ?? url, async (run) => {
    const { rows } = await run('select from pg_roles where rolname = $1', [group]);
    if (rows.length === 0) await run(`create role ${quoteIdentifier(group)} nologin`);
    await run(
      `create role ${role} login password '${password}' connection limit ${connections} in role ${quoteIdentifier(group)}`,
    );
    for (const [setting, value] of Object.entries(sessionSettings))
      await run(`alter role ${role} set ${setting} = '${value}'`);
  });
  await openAnalystSchema(deployment.database, group);
  const made = new URL(url);
  made.username = name;
  made.password = password;
  parts.terminal.report({ name, url: made.href }, made.href);
}

/** Lists the analyst roles. */
export async function list(parts: CommandParts): Promise<undefined> {
  const names = await namesOf(await openDeployment(parts));
  parts.terminal.report(names, names.length > 0 ? names.join('\n') : 'There are no analysts.');
}

/** Drops an analyst role. Throws CommandFailure for any other role. */
export async function drop(parts: CommandParts, name: string, options: AnalystOptions): Promise<undefined> {
  const deployment = await openDeployment(parts);
  if (!(await namesOf(deployment)).includes(name)) throw new CommandFailure(`There is no analyst ${name}.`);
  const { url } = await placeOf(parts, deployment);
  await withRoles(options.as ?? url, async (run) => {
    // From here on nobody can connect with it.
    await run(`alter role ${quoteIdentifier(name)} nologin`);
    await run('select pg_terminate_backend(pid) from pg_stat_activity where usename = $1', [name]);
    await run(`drop role ${quoteIdentifier(name)}`);
  });
  parts.terminal.report({ name }, `The analyst ${name} is dropped.`);
}

function requireName(name: string): void {
  if (!namePattern.test(name))
    throw new CommandFailure(
      'The name must begin with a lower-case letter, have only lower-case letters, digits and _ (up to 63), and not begin with pg_ or recordbus.',
    );
}

/**
 * The database URL with a role that may create roles, if there is one, and the group role that all its analysts have.
 */
async function placeOf(
  { config }: CommandParts,
  { database, databaseUrl }: Deployment,
): Promise<{ url: string; group: string }> {
  const [row] = await database.query<{ readonly name: string }>({
    text: 'select current_database() as name',
    values: [],
  });
  const isOwn = config.databaseUrl === undefined;
  return {
    url: isOwn ? await superuserUrl(config.dataDirectory, databaseUrl) : databaseUrl,
    group: `${row?.name}_analyst`,
  };
}

async function namesOf({ database }: Deployment): Promise<readonly string[]> {
  const rows = await database.query<{ readonly name: string }>({
    text: `select r.rolname as name from pg_auth_members m join pg_roles g on g.oid = m.roleid join pg_roles r on r.oid = m.member
      where g.rolname = current_database() || '_analyst' and r.rolcanlogin order by 1`,
    values: [],
  });
  return rows.map(({ name }) => name);
}

type Run = (text: string, values?: readonly string[]) => Promise<pg.QueryResult>;

/** Runs statements about roles in one transaction. */
async function withRoles(url: string, work: (run: Run) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: 'recordbus cli' });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('begin');
    await work((text, values = []) => client.query(text, [...values]));
    await client.query('commit');
  } catch (error) {
    if (isDatabaseError(error, notAllowed))
      throw new CommandFailure(
        `The database refused it: ${error.message}. Name the database as a role that may create roles, such as a superuser, with --as <url>.`,
      );
    if (isDatabaseError(error, exists)) throw new CommandFailure(`A role with this name exists: ${error.message}.`);
    throw error;
  } finally {
    await client.end().catch(() => {});
  }
}
