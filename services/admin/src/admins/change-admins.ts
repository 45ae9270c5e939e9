import { findPasswordProblem, hashPassword } from '@recordbus/crypto';
import { type Database, isDatabaseError, newId, sqlState } from '@recordbus/database';
import { conflict, notFound, validationFailed } from '@recordbus/shared/errors';
import { type Admin, deleteAdminUnlessLast, findAdmin, insertAdmin, updateAdmin } from './admins-table.ts';

interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** Adds an admin. Throws 422 for an address that is taken or a password that the policy refuses. */
export async function addAdmin({ system }: Database, credentials: Credentials, nowSec: number): Promise<Admin> {
  const passwordHash = await hashNewPassword(credentials.password);
  const admin = { id: newId(), email: credentials.email, created_at: nowSec };
  await naming(credentials.email, () => insertAdmin(system, admin, passwordHash));
  return admin;
}

/**
 * Changes the address or the password of an admin, whose tokens die with it. Throws 404, and 422 for an address that
 * is taken or a password that the policy refuses.
 */
export async function changeAdmin(
  { system }: Database,
  id: string,
  { email, password }: Partial<Credentials>,
  nowSec: number,
): Promise<Admin> {
  const isChange = email !== undefined || password !== undefined;
  const passwordHash = password === undefined ? undefined : await hashNewPassword(password);
  const admin = isChange
    ? await naming(email, () => updateAdmin(system, id, { email, passwordHash }, nowSec))
    : await findAdmin(system, id);
  if (!admin) throw notFound('admin');
  return admin;
}

/** Removes an admin, whose tokens die too. Throws 404, and 409 for the last one. */
export async function deleteAdmin({ system }: Database, id: string): Promise<void> {
  const result = await deleteAdminUnlessLast(system, id);
  if (result === 'missing') throw notFound('admin');
  if (result === 'last') throw conflict('last_admin', 'the last admin can not be deleted');
}

async function hashNewPassword(password: string): Promise<string> {
  const problem = findPasswordProblem(password);
  if (problem) throw validationFailed({ password: problem });
  return hashPassword(password);
}

/** Only the address is unique, so a unique violation is about it. */
async function naming<T>(email: string | undefined, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!isDatabaseError(error, sqlState.uniqueViolation)) throw error;
    throw validationFailed({ email: `${email} is the address of another admin` });
  }
}
