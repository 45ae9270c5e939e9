import { deletePasskey, listPasskeys, type Passkey, renamePasskey } from '@recordbus/accounts';
import { recordAudit } from '@recordbus/audit';
import type { Query } from '@recordbus/database';
import { notFound } from '@recordbus/errors';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { type AdminSession, openAdminSession } from '../sessions/admin-sessions.ts';
import { type AdminSignIn, requireAdminFactor } from '../sign-in/log-in-admin.ts';
import { type CallingAdmin, proveAdmin } from '../totp/admin-authenticator.ts';
import { adminRealm } from '../totp/factor-accounts.ts';
import { lockAdmin } from '../users/admins.ts';
import { type AddingTo, beginPasskey, finishPasskey, type NewPasskey } from './add-passkey.ts';
import { badPasskey } from './bad-passkey.ts';
import { type OfferedPasskey, provePasskey } from './prove-passkey.ts';

const ownerOf = ({ id }: Pick<CallingAdmin, 'id'>) => ({ realm: adminRealm, accountId: id });

const addingTo = (caller: CallingAdmin): AddingTo => {
  const { principal } = caller.origin.context;
  return { ...ownerOf(caller), sessionId: principal.type === 'admin' ? principal.sessionId : undefined };
};

const audit =
  (action: string, { id, origin: { context, userAgent } }: CallingAdmin) =>
  (query: Query): Promise<void> =>
    recordAudit(query, { action, context, userAgent, target: { type: 'admin', id } });

/** Begins to add a passkey to the asking admin's account. Throws 403 without the password, 409, 422. */
export async function beginAdminPasskey(parts: AuthParts, caller: CallingAdmin, oldPassword: unknown) {
  const { email } = await proveAdmin(parts, caller, oldPassword);
  return beginPasskey(parts, addingTo(caller), email);
}

/** Adds the passkey that the browser made. Throws 401, 409. */
export const finishAdminPasskey = (parts: AuthParts, caller: CallingAdmin, passkey: NewPasskey): Promise<Passkey> =>
  finishPasskey(parts, addingTo(caller), passkey, {
    lock: async (query) => (await lockAdmin(query, caller.id)) !== undefined,
    note: audit('admins.passkey_add', caller),
  });

/**
 * Signs an admin in with a passkey (admins §2.2): with user verification it is both factors, without it an admin with an
 * authenticator app gets the token for the second factor. Throws 401.
 */
export async function signInAdminWithPasskey(
  parts: AuthParts,
  offered: OfferedPasskey,
  origin: Origin,
): Promise<AdminSignIn> {
  const proved = await provePasskey(parts, adminRealm, offered);
  return parts.database.transaction(async (query): Promise<AdminSession | AdminSignIn> => {
    const admin = await lockAdmin(query, proved.accountId);
    if (!admin) throw badPasskey();
    await proved.accept(query);
    if (admin.totpEnabled && !proved.isUserVerified) return requireAdminFactor(query, parts, admin);
    return openAdminSession(query, parts, admin, origin);
  });
}

/** Lists the asking admin's passkeys. */
export const listAdminPasskeys = ({ database }: AuthParts, caller: CallingAdmin): Promise<Passkey[]> =>
  listPasskeys(database.query, ownerOf(caller));

/** Renames one of the asking admin's passkeys. Throws 404. */
export async function renameAdminPasskey(
  { database }: AuthParts,
  caller: CallingAdmin,
  { id, name }: { readonly id: string; readonly name: string },
): Promise<Passkey> {
  const renamed = id.includes('\0') ? undefined : await renamePasskey(database.query, ownerOf(caller), id, name);
  if (!renamed) throw notFound('passkey');
  return renamed;
}

/** Removes one of the asking admin's passkeys. The password stays. Throws 403 without the password, 404. */
export async function removeAdminPasskey(
  parts: AuthParts,
  caller: CallingAdmin,
  { id, oldPassword }: { readonly id: string; readonly oldPassword: unknown },
): Promise<void> {
  if (!(await listAdminPasskeys(parts, caller)).some((passkey) => passkey.id === id)) throw notFound('passkey');
  await proveAdmin(parts, caller, oldPassword);
  await parts.database.transaction(async (query) => {
    if (!(await deletePasskey(query, ownerOf(caller), id))) throw notFound('passkey');
    await audit('admins.passkey_remove', caller)(query);
  });
}
