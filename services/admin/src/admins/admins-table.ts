import type { Query } from '@recordbus/database';
import { lookupForms } from '@recordbus/schema';

/** An admin as the API shows it, without the password hash. */
export interface Admin {
  readonly id: string;
  readonly email: string;
  readonly created_at: number;
  /** Whether a sign-in needs a second factor. */
  readonly second_factor: boolean;
}

const columns = 'id, email, created_at, totp_enabled as second_factor';

/** An admin's columns that a change may set. */
export interface AdminChange {
  readonly email?: string | undefined;
  readonly passwordHash?: string | undefined;
}

/** Lists all admins, oldest first. */
export const listAdmins = (query: Query): Promise<Admin[]> =>
  query<Admin>({ text: `select ${columns} from system.admins order by created_at, id`, values: [] });

/** Finds an admin by id. */
export async function findAdmin(query: Query, id: string): Promise<Admin | undefined> {
  const [admin] = await query<Admin>({
    text: `select ${columns} from system.admins where id = $1`,
    values: [id],
  });
  return admin;
}

/** Finds a mailbox's admin, in whatever form it is written. */
export async function findAdminByEmail(query: Query, email: string): Promise<Admin | undefined> {
  for (const form of lookupForms(email)) {
    const [admin] = await query<Admin>({
      text: `select ${columns} from system.admins where lower(email) = lower($1)`,
      values: [form],
    });
    if (admin) return admin;
  }
  return undefined;
}

/** Inserts an admin. Throws the database's unique violation when the address is taken. */
export async function insertAdmin(query: Query, admin: Admin, passwordHash: string): Promise<void> {
  await query({
    text: `insert into system.admins (id, email, password_hash, created_at, updated_at)
values ($1, $2, $3, $4, $4)`,
    values: [admin.id, admin.email, passwordHash, admin.created_at],
  });
}

/**
 * Changes an admin and ends all tokens issued so far (admins §4.3). Returns undefined when there is no such admin.
 * Throws the database's unique violation when the address is taken.
 */
export async function updateAdmin(
  query: Query,
  id: string,
  { email, passwordHash }: AdminChange,
  nowSec: number,
): Promise<Admin | undefined> {
  const [admin] = await query<Admin>({
    text: `update system.admins set email = coalesce($2, email), password_hash = coalesce($3, password_hash),
  token_version = token_version + 1, updated_at = $4
where id = $1 returning ${columns}`,
    values: [id, email ?? null, passwordHash ?? null, nowSec],
  });
  return admin;
}

/**
 * Deletes an admin unless it is the only one. Must run in a transaction: it locks all admins, so concurrent deletes
 * never leave none.
 */
export async function deleteAdminUnlessLast(query: Query, id: string): Promise<'deleted' | 'missing' | 'last'> {
  const all = await query<{ id: string }>({
    text: 'select id from system.admins order by id for update',
    values: [],
  });
  if (!all.some((admin) => admin.id === id)) return 'missing';
  if (all.length === 1) return 'last';
  await query({ text: 'delete from system.admins where id = $1', values: [id] });
  return 'deleted';
}
