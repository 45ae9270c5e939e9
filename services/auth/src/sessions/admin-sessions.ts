import type { Query } from '@recordbus/database';
import { unauthenticated } from '@recordbus/errors';
import type { TokenSigner } from '@recordbus/tokens';
import type { AuthParts, Origin } from '../auth-parts.ts';
import type { AdminAccount } from '../users/admins.ts';
import { insertSession } from './session-rows.ts';

/** The answer to an admin's sign-in. */
export interface AdminSession {
  readonly token: string;
  readonly admin: { readonly id: string; readonly email: string };
}

/** Opens a session for an admin. Throws 401 when the account was changed or deleted in the meantime. */
export async function openAdminSession(
  query: Query,
  { settings, signer, nowSec }: Pick<AuthParts, 'settings' | 'signer' | 'nowSec'>,
  admin: AdminAccount,
  origin: Origin,
): Promise<AdminSession> {
  const windowSec = settings.get('auth.admin.window_seconds');
  const now = nowSec();
  const account = { collection: undefined, id: admin.id, tokenVersion: admin.tokenVersion, isSignIn: true };
  const sessionId = await insertSession(query, account, origin, { nowSec: now, expiresAtSec: now + windowSec });
  if (!sessionId) throw unauthenticated('the account has changed; sign in again');
  return signAdminSession(signer, admin, sessionId, windowSec);
}

/** Signs the token for an admin's session. */
export async function signAdminSession(
  signer: TokenSigner,
  { id, email, tokenVersion }: AdminAccount,
  sessionId: string | undefined,
  windowSec: number,
): Promise<AdminSession> {
  const principal = { type: 'admin', id, email } as const;
  const token = await signer.signSession({ principal, tokenVersion, sessionId, windowSec });
  return { token, admin: { id, email } };
}
