import { recordAudit } from '@recordbus/audit';
import { type Database, isDatabaseError, newId, type Query, sqlState } from '@recordbus/database';
import type { PasswordRules } from '@recordbus/passwords';
import { conflict, notFound, validationFailed } from '@recordbus/shared/errors';
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
  database: Database,
  passwords: PasswordRules,
  credentials: Credentials,
  nowSec: number,
  author: Author,
): Promise<Admin> {
  const passwordHash = await passwords.hashNew(credentials.password);
  const admin = { id: newId(), email: credentials.email, created_at: nowSec };
  await naming(credentials.email, () =>
    database.transaction(async (query) => {
      await insertAdmin(query, admin, passwordHash);
      await auditAdmin(query, author, 'admins.create', admin.id, { email: admin.email });
    }),
  );
  return admin;
}

/**
 * Changes the address or the password of an admin, whose tokens die with it. Throws 404, and 422 for an address that
 * is taken or a password that the policy refuses.
 */
export async function changeAdmin(
  database: Database,
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
        database.transaction(async (query) => {
          const changed = await updateAdmin(query, id, { email, passwordHash }, nowSec);
          const names = [...(email === undefined ? [] : ['email']), ...(password === undefined ? [] : ['password'])];
          if (changed) await auditAdmin(query, author, 'admins.update', id, { changed: names });
          return changed;
        }),
      )
    : await findAdmin(database.query, id);
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
  const admin = await findAdminByEmail(database.query, email);
  if (!admin) throw notFound(`admin ${email}`);
  return changeAdmin(database, passwords, admin.id, { password }, nowSec, author);
}

/** Removes an admin, whose tokens die too. Throws 404, and 409 for the last one. */
export async function deleteAdmin(database: Database, id: string, author: Author): Promise<void> {
  const result = await database.transaction(async (query) => {
    const outcome = await deleteAdminUnlessLast(query, id);
    if (outcome === 'deleted') await auditAdmin(query, author, 'admins.delete', id);
    return outcome;
  });
  if (result === 'missing') throw notFound('admin');
  if (result === 'last') throw conflict('last_admin', 'the last admin can not be deleted');
}

const auditAdmin = (
  query: Query,
  author: Author,
  action: string,
  id: string,
  details: Readonly<Record<string, unknown>> = {},
) => recordAudit(query, { ...author, action, target: { type: 'admin', id }, details });

/** Only the address is unique, so a unique violation is about it. */
async function naming<T>(email: string | undefined, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!isDatabaseError(error, sqlState.uniqueViolation)) throw error;
    throw validationFailed({ email: `${email} is the address of another admin` });
  }
}
