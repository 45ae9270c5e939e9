import { recordAudit } from '@recordbus/audit';
import { type Database, isDatabaseError, newId, queryOf, type SystemTables, sqlState } from '@recordbus/database';
import type { PasswordRules } from '@recordbus/passwords';
import { conflict, notFound, validationFailed } from '@recordbus/shared/errors';
import type { Kysely } from 'kysely';
import type { Author } from '../audit/author.ts';
import {
  type Admin,
  deleteAdminUnlessLast,
  findAdmin,
  findAdminByEmail,
  insertAdmin,
  updateAdmin,
} from './admins-table.ts';

interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** Adds an admin. Throws 422 for an address that is taken or a password that the policy refuses. */
export async function addAdmin(
  { system }: Database,
  passwords: PasswordRules,
  credentials: Credentials,
  nowSec: number,
  author: Author,
): Promise<Admin> {
  const passwordHash = await passwords.hashNew(credentials.password);
  const admin = { id: newId(), email: credentials.email, created_at: nowSec };
  await naming(credentials.email, () =>
    system.transaction().execute(async (tx) => {
      await insertAdmin(tx, admin, passwordHash);
      await auditAdmin(tx, author, 'admins.create', admin.id, { email: admin.email });
    }),
  );
  return admin;
}

/**
 * Changes the address or the password of an admin, whose tokens die with it. Throws 404, and 422 for an address that
 * is taken or a password that the policy refuses.
 */
export async function changeAdmin(
  { system }: Database,
  passwords: PasswordRules,
  id: string,
  { email, password }: Partial<Credentials>,
  nowSec: number,
  author: Author,
): Promise<Admin> {
  const isChange = email !== undefined || password !== undefined;
  const passwordHash = password === undefined ? undefined : await passwords.hashNew(password);
  const admin = isChange
    ? await naming(email, () =>
        system.transaction().execute(async (tx) => {
          const changed = await updateAdmin(tx, id, { email, passwordHash }, nowSec);
          const names = [...(email === undefined ? [] : ['email']), ...(password === undefined ? [] : ['password'])];
          if (changed) await auditAdmin(tx, author, 'admins.update', id, { changed: names });
          return changed;
        }),
      )
    : await findAdmin(system, id);
  if (!admin) throw notFound('admin');
  return admin;
}

/**
 * Gives the admin with this address another password, and ends all tokens. Throws 404, and 422 for a password that the
 * policy refuses.
 */
export async function resetAdmin(
  database: Database,
  passwords: PasswordRules,
  { email, password }: Credentials,
  nowSec: number,
  author: Author,
): Promise<Admin> {
  const admin = await findAdminByEmail(database.system, email);
  if (!admin) throw notFound(`admin ${email}`);
  return changeAdmin(database, passwords, admin.id, { password }, nowSec, author);
}

/** Removes an admin, whose tokens die too. Throws 404, and 409 for the last one. */
export async function deleteAdmin({ system }: Database, id: string, author: Author): Promise<void> {
  const result = await system.transaction().execute(async (tx) => {
    const outcome = await deleteAdminUnlessLast(tx, id);
    if (outcome === 'deleted') await auditAdmin(tx, author, 'admins.delete', id);
    return outcome;
  });
  if (result === 'missing') throw notFound('admin');
  if (result === 'last') throw conflict('last_admin', 'the last admin can not be deleted');
}

const auditAdmin = (
  tx: Kysely<SystemTables>,
  author: Author,
  action: string,
  id: string,
  details: Readonly<Record<string, unknown>> = {},
) => recordAudit(queryOf(tx), { ...author, action, target: { type: 'admin', id }, details });

/** Only the address is unique, so a unique violation is about it. */
async function naming<T>(email: string | undefined, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!isDatabaseError(error, sqlState.uniqueViolation)) throw error;
    throw validationFailed({ email: `${email} is the address of another admin` });
  }
}
