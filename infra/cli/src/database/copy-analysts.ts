import { openAnalystSchema } from '@recordbus/admin';
import type { Database } from '@recordbus/database';
import { superuserUrl } from '@recordbus/embedded';
import pg from 'pg';

interface Copying {
  readonly dataDirectory: string;
  /** The owner's URLs in the old cluster and in the new one. */
  readonly from: string;
  readonly to: string;
  /** The new cluster's database. */
  readonly database: Pick<Database, 'transaction'>;
}

/** The analysts' roles with their passwords and settings, which a backup does not have, as statements. */
const rolesOfAnalysts = `
  with analysts as (
    select a.* from pg_authid a where a.rolname = current_database() || '_analyst' or exists (
      select from pg_auth_members m join pg_roles g on g.oid = m.roleid
      where m.member = a.oid and g.rolname = current_database() || '_analyst' and a.rolcanlogin))
  select statement from (
    select 1 as turn, format('create role %I %s password %L connection limit %s', rolname,
        case when rolcanlogin then 'login' else 'nologin' end, rolpassword, rolconnlimit) as statement from analysts
    union all
    select 2, format('grant %I to %I', current_database() || '_analyst', rolname) from analysts where rolcanlogin
    union all
    select 3, format('alter role %I set %I = %L', rolname, split_part(setting, '=', 1),
        substr(setting, strpos(setting, '=') + 1))
      from analysts join pg_db_role_setting s on s.setrole = analysts.oid and s.setdatabase = 0,
        unnest(s.setconfig) as setting
  ) as statements order by turn`;

/** Copies the analysts' roles to a new cluster, and creates the views that they read. */
export async function copyAnalysts({ dataDirectory, from, to, database }: Copying): Promise<void> {
  const statements = await asSuperuser(await superuserUrl(dataDirectory, from), async (client) => {
    const { rows } = await client.query<{ statement: string }>(rolesOfAnalysts);
    return rows.map(({ statement }) => statement);
  });
  if (statements.length === 0) return;
  const group = await asSuperuser(await superuserUrl(dataDirectory, to), async (client) => {
    for (const statement of statements) await client.query(statement);
    const { rows } = await client.query<{ name: string }>("select current_database() || '_analyst' as name");
    return rows[0]?.name;
  });
  if (group !== undefined) await openAnalystSchema(database, group);
}

async function asSuperuser<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, application_name: 'recordbus cli' });
  client.on('error', () => {});
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end();
  }
}
