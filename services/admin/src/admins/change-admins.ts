import { recordAudit } from '@recordbus/audit';
import { type Database, isDatabaseError, newId, type Query, sqlState } from '@recordbus/database';
import { conflict, notFound, validationFailed } from '@recordbus/errors';
import type { PasswordRules } from '@recordbus/passwords';
import type { Actor } from '../audit/actor.ts';
import { requireUnbounded } from '../keys/bounds.ts';
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

/**
 * Adds an admin. Throws 403 for a service key with an end or networks, 422 when the address is taken or the policy refuses
 * the password.
 */
export async function addAdmin(
  database: Database,
  passwords: PasswordRules,
  credentials: Credentials,
  nowSec: number,
  actor: Actor,
): Promise<Admin> {
  const passwordHash = await passwords.hashNew(credentials.password);
  const admin = { id: newId(), email: credentials.email, created_at: nowSec, second_factor: false };
  await refusingTakenAddress(credentials.email, () =>
    database.transaction(async (query) => {
      await requireUnbounded(query, actor);
      await insertAdmin(query, admin, passwordHash);
      await auditAdmin(query, actor, 'admins.create', admin.id, { email: admin.email });
    }),
  );
  return admin;
}

/**
 * Adds an admin whom another system had, with the password's hash from there. Returns false if the address is another
 * admin's.
 */
export async function takeAdmin(
  database: Database,
  { email, passwordHash }: { readonly email: string; readonly passwordHash: string },
  nowSec: number,
  actor: Actor,
): Promise<boolean> {
  const admin = { id: newId(), email, created_at: nowSec, second_factor: false };
  return database.transaction(async (query) => {
    await requireUnbounded(query, actor);
    if (await findAdminByEmail(query, email)) return false;
    await insertAdmin(query, admin, passwordHash);
    await auditAdmin(query, actor, 'admins.create', admin.id, { email });
    return true;
  });
}

/**
 * Changes an admin's address or password and ends the admin's tokens. Throws 403 for a service key with an end or
 * networks, 404, and 422 when the address is taken or the policy refuses the password.
 */
export async function changeAdmin(
  database: Database,
  passwords: PasswordRules,
  id: string,
  { email, password }: Partial<Credentials>,
  nowSec: number,
  actor: Actor,
): Promise<Admin> {
  const isChange = email !== undefined || password !== undefined;
  const passwordHash = password === undefined ? undefined : await passwords.hashNew(password);
  const admin = isChange
    ? await refusingTakenAddress(email, () =>
        database.transaction(async (query) => {
          await requireUnbounded(query, actor);
          const changed = await updateAdmin(query, id, { email, passwordHash }, nowSec);
          const names = [...(email === undefined ? [] : ['email']), ...(password === undefined ? [] : ['password'])];
          if (changed) await auditAdmin(query, actor, 'admins.update', id, { changed: names });
          return changed;
        }),
      )
    : await findAdmin(database.query, id);
  if (!admin) throw notFound('admin');
  return admin;
}

/**
 * Sets the password for the admin with this address and ends the admin's tokens. Throws 404, and 422 when the policy
 * refuses the password.
 */
export async function resetAdmin(
  database: Database,
  passwords: PasswordRules,
  { email, password }: Credentials,
  nowSec: number,
  actor: Actor,
): Promise<Admin> {
  const admin = await findAdminByEmail(database.query, email);
  if (!admin) throw notFound(`admin ${email}`);
  return changeAdmin(database, passwords, admin.id, { password }, nowSec, actor);
}

/** Deletes an admin and ends the admin's tokens. Throws 404, and 409 for the last admin. */
export async function deleteAdmin(database: Database, id: string, actor: Actor): Promise<void> {
  const result = await database.transaction(async (query) => {
    const outcome = await deleteAdminUnlessLast(query, id);
    if (outcome === 'deleted') await auditAdmin(query, actor, 'admins.delete', id);
    return outcome;
  });
  if (result === 'missing') throw notFound('admin');
  if (result === 'last') throw conflict('last_admin', 'the last admin cannot be deleted');
}

const auditAdmin = (
  query: Query,
  actor: Actor,
  action: string,
  id: string,
  details: Readonly<Record<string, unknown>> = {},
) => recordAudit(query, { ...actor, action, target: { type: 'admin', id }, details });

/** Turns a unique violation into 422. Only the address is unique, so the violation is about it. */
async function refusingTakenAddress<T>(email: string | undefined, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!isDatabaseError(error, sqlState.uniqueViolation)) throw error;
    throw validationFailed({ email: `${email} is another admin's address` });
  }
}
