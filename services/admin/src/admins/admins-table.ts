import type { Query } from '@recordbus/database';

/** An admin as the API shows one: never the password's hash. */
export interface Admin {
  readonly id: string;
  readonly email: string;
  readonly created_at: number;
}

/** What of an admin can change. */
export interface AdminChange {
  readonly email?: string | undefined;
  readonly passwordHash?: string | undefined;
}

/** All admins, the first one first. */
export const listAdmins = (query: Query): Promise<Admin[]> =>
  query<Admin>({ text: 'select id, email, created_at from system.admins order by created_at, id', values: [] });

/** The admin with this id. */
export async function findAdmin(query: Query, id: string): Promise<Admin | undefined> {
  const [admin] = await query<Admin>({
    text: 'select id, email, created_at from system.admins where id = $1',
    values: [id],
  });
  return admin;
}

/** The admin with this address, however it is written. */
export async function findAdminByEmail(query: Query, email: string): Promise<Admin | undefined> {
  const [admin] = await query<Admin>({
    text: 'select id, email, created_at from system.admins where lower(email) = lower($1)',
    values: [email],
  });
  return admin;
}

/** Adds an admin. Throws the unique violation of a taken address. */
export async function insertAdmin(query: Query, admin: Admin, passwordHash: string): Promise<void> {
  await query({
    text: `insert into system.admins (id, email, password_hash, created_at, updated_at)
values ($1, $2, $3, $4, $4)`,
    values: [admin.id, admin.email, passwordHash, admin.created_at],
  });
}

/**
 * Changes an admin and ends all the tokens issued so far (contract §4); undefined when there is no such admin.
 * Throws the unique violation of a taken address.
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
where id = $1 returning id, email, created_at`,
    values: [id, email ?? null, passwordHash ?? null, nowSec],
  });
  return admin;
}

/**
 * Removes an admin, but not the only one; in a transaction. Of several at once that would leave none, one finds itself
 * the last.
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
