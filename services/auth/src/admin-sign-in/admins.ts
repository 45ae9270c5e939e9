import type { SystemTables } from '@recordbus/database';
import type { Kysely } from 'kysely';

/** An admin's account as signing in needs it. */
export interface AdminAccount {
  readonly id: string;
  readonly email: string;
  readonly passwordHash: string;
  readonly tokenVersion: number;
}

type Executor = Kysely<SystemTables>;

const columns = ['id', 'email', 'password_hash as passwordHash', 'token_version as tokenVersion'] as const;

/** Is there any admin at all? */
export async function hasAdmin(db: Executor): Promise<boolean> {
  return (await db.selectFrom('admins').select('id').limit(1).executeTakeFirst()) !== undefined;
}

/** The admin with this address, whatever its case. */
export const findAdminByEmail = (db: Executor, email: string): Promise<AdminAccount | undefined> =>
  db
    .selectFrom('admins')
    .select(columns)
    .where(({ eb, fn, val }) => eb(fn('lower', ['email']), '=', fn('lower', [val(email)])))
    .executeTakeFirst();

/** The admin with this id. */
export const findAdminById = (db: Executor, id: string): Promise<AdminAccount | undefined> =>
  db.selectFrom('admins').select(columns).where('id', '=', id).executeTakeFirst();

/** Adds an admin. Throws the unique violation of a taken address. */
export async function insertAdmin(db: Executor, admin: AdminAccount, nowSec: number): Promise<void> {
  const { id, email, passwordHash: password_hash, tokenVersion: token_version } = admin;
  await db
    .insertInto('admins')
    .values({ id, email, password_hash, token_version, created_at: nowSec, updated_at: nowSec })
    .execute();
}

/** Stores the same password's new hash, unless the password was changed meanwhile. */
export async function replacePasswordHash(db: Executor, admin: AdminAccount, passwordHash: string): Promise<void> {
  await db
    .updateTable('admins')
    .set({ password_hash: passwordHash })
    .where('id', '=', admin.id)
    .where('password_hash', '=', admin.passwordHash)
    .execute();
}
