import type { Database } from '@recordbus/database';
import type { Principal } from '@recordbus/shared/context';
import { unauthenticated } from '@recordbus/shared/errors';
import type { TokenSigner } from '@recordbus/tokens';
import { findAdminById } from '../admin-sign-in/admins.ts';
import { type AdminSession, openAdminSession, windowSec } from './admin-sessions.ts';

/** A new session for the caller, with the window of today (interface §5). Throws 401 when the account is gone. */
export async function refreshSession(
  database: Database,
  signer: TokenSigner,
  principal: Principal,
): Promise<AdminSession> {
  const admin = principal.type === 'admin' ? await findAdminById(database.system, principal.id) : undefined;
  if (!admin) throw unauthenticated();
  return openAdminSession(signer, admin, windowSec.refresh);
}
