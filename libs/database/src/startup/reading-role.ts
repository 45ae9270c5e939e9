import { locks, takeLock } from '../advisory-locks.ts';
import type { SessionSettings } from '../connections/session-settings.ts';
import type { Query } from '../statement.ts';

/**
 * The role's rights: records, their links, history and searched words, what uploads say about their files, the outbox columns for
 * incremental totals, and the timelines that reads on read replicas check. It may call the schema's functions, none of which changes data by itself.
 */
const grants = (role: string): readonly string[] => [
  `grant usage on schema system, records, history, links, search to ${role}`,
  `grant select on all tables in schema records, history, links, search to ${role}`,
  `alter default privileges in schema records, history, links, search grant select on tables to ${role}`,
  // Earlier releases read views with their owner's rights.
  `do $$ declare name text; begin
    for name in select oid::regclass::text from pg_class where relnamespace = 'records'::regnamespace and relkind = 'v'
    loop execute format('alter view %s set (security_invoker = true)', name); end loop;
  end $$`,
  `grant select (collection_id, records_added, transaction_id) on system.outbox to ${role}`,
  `grant select on system.timelines to ${role}`,
  `grant select on system.uploaded_files to ${role}`,
];

interface RoleState {
  readonly role: string;
  readonly isReady: boolean;
}

/**
 * Finds the role `<database>_reader`, under which views and shaped reads run, and grants it missing rights. Undefined
 * without a role that this one may act as: then such reads run with the usual rights. Any number of replicas may call
 * it at once.
 */
export async function prepareReadingRole(
  query: Query,
  transaction: <T>(work: (query: Query) => Promise<T>) => Promise<T>,
): Promise<string | undefined> {
  const state = await findRole(query);
  if (!state || state.isReady) return state?.role;
  return transaction(async (within) => {
    await takeLock(within, locks.roles);
    const now = await findRole(within);
    if (now && !now.isReady) for (const text of grants(quoted(now.role))) await within({ text, values: [] });
    return now?.role;
  });
}

async function findRole(query: Query): Promise<RoleState | undefined> {
  const [state] = await query<RoleState>({
    text: `select r.rolname as role,
        coalesce(has_any_column_privilege(r.oid, 'system.outbox', 'select'), false)
        and has_table_privilege(r.oid, 'system.timelines', 'select')
        and has_table_privilege(r.oid, 'system.uploaded_files', 'select')
        and (select count(*) = 4 from pg_default_acl a join pg_namespace n on n.oid = a.defaclnamespace
          where n.nspname in ('records', 'history', 'links', 'search') and a.defaclobjtype = 'r'
            and a.defaclrole = (select oid from pg_roles where rolname = current_user)
            and a.defaclacl::text like '%' || quote_ident(r.rolname) || '=r%')
        and not exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace
          where n.nspname in ('records', 'history', 'links', 'search') and c.relkind in ('r', 'p', 'v', 'm')
            and not has_table_privilege(r.oid, c.oid, 'select')) as "isReady"
      from pg_roles r where r.rolname = current_database() || '_reader' and pg_has_role(current_user, r.oid, 'member')`,
    values: [],
  });
  return state;
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Settings for a read-only connection under a role. */
export const readingSettings = (role: string | undefined): SessionSettings => ({
  default_transaction_read_only: 'on',
  ...(role !== undefined && { role }),
});
