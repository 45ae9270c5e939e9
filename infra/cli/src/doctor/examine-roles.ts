import type pg from 'pg';
import { type Finding, fine, warning } from './finding.ts';

interface RoleRow {
  readonly role: string;
  readonly is_superuser: boolean;
  readonly reader: string;
  readonly may_read: boolean;
}

/** Examines the services' database role, and whether views and shaped reads use a read-only role. */
export async function examineRoles(client: pg.Client): Promise<Finding[]> {
  const { rows } = await client.query<RoleRow>(
    `select rolname as role, rolsuper as is_superuser, current_database() || '_reader' as reader,
       coalesce((select pg_has_role(current_user, oid, 'member') from pg_roles
         where rolname = current_database() || '_reader'), false) as may_read
     from pg_roles where rolname = current_user`,
  );
  return rows.flatMap(({ role, is_superuser, reader, may_read }) => [
    is_superuser
      ? warning(
          'database role',
          `the services connect as ${role}, a superuser`,
          'Let them connect as the database owner: docs/operations.md, Database roles.',
        )
      : fine('database role', `the services connect as ${role}, which is not a superuser`),
    may_read
      ? fine('reading role', `views and shaped reads run as ${reader}`)
      : warning(
          'reading role',
          `${role} has no role ${reader} to act as, so views run with its full permissions`,
          'Create it: docs/operations.md, Database roles.',
        ),
  ]);
}
