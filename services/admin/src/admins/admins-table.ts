import type { SystemTables } from '@recordbus/database';
import { type Kysely, sql } from 'kysely';

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

type Executor = Kysely<SystemTables>;

const shown = ['id', 'email', 'created_at'] as const;

/** All admins, the first one first. */
export const listAdmins = (db: Executor): Promise<Admin[]> =>
  db.selectFrom('admins').select(shown).orderBy('created_at').orderBy('id').execute();

/** The admin with this id. */
export const findAdmin = (db: Executor, id: string): Promise<Admin | undefined> =>
  db.selectFrom('admins').select(shown).where('id', '=', id).executeTakeFirst();

/** The admin with this address, however it is written. */
export const findAdminByEmail = (db: Executor, email: string): Promise<Admin | undefined> =>
  db
    .selectFrom('admins')
    .select(shown)
    .where(({ fn }) => fn<string>('lower', ['email']), '=', sql<string>`lower(${email})`)
    .executeTakeFirst();

/** Adds an admin. Throws the unique violation of a taken address. */
export async function insertAdmin(db: Executor, admin: Admin, passwordHash: string): Promise<void> {
  const { id, email, created_at } = admin;
  await db
    .insertInto('admins')
    .values({ id, email, password_hash: passwordHash, created_at, updated_at: created_at })
    .execute();
}

/**
 * Changes an admin and ends all the tokens issued so far (contract §4); undefined when there is no such admin.
 * Throws the unique violation of a taken address.
 */
export const updateAdmin = (
  db: Executor,
  id: string,
  { email, passwordHash }: AdminChange,
  nowSec: number,
): Promise<Admin | undefined> =>
  db
    .updateTable('admins')
    .set(({ eb }) => ({
      ...(email !== undefined && { email }),
      ...(passwordHash !== undefined && { password_hash: passwordHash }),
      token_version: eb('token_version', '+', 1),
      updated_at: nowSec,
    }))
    .where('id', '=', id)
    .returning(shown)
    .executeTakeFirst();

/**
 * Removes an admin, but not the only one; in a transaction. Of several at once that would leave none, one finds itself
 * the last.
 */
export async function deleteAdminUnlessLast(tx: Executor, id: string): Promise<'deleted' | 'missing' | 'last'> {
  const all = await tx.selectFrom('admins').select('id').orderBy('id').forUpdate().execute();
  if (!all.some((admin) => admin.id === id)) return 'missing';
  if (all.length === 1) return 'last';
  await tx.deleteFrom('admins').where('id', '=', id).execute();
  return 'deleted';
}
