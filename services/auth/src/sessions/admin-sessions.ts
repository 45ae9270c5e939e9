import type { TokenSigner } from '@recordbus/tokens';
import type { AdminAccount } from '../admin-sign-in/admins.ts';

/** How long a session of each kind lasts, in seconds (interface §5, Session lifetimes). */
const daySec = 24 * 60 * 60;
export const windowSec = { admin: 7 * daySec, refresh: 7 * daySec };

/** What an admin gets who signed in: the token and who they are. */
export interface AdminSession {
  readonly token: string;
  readonly admin: { readonly id: string; readonly email: string };
}

/** Opens a session of `lifetimeSec` for an admin. */
export async function openAdminSession(
  signer: TokenSigner,
  { id, email, tokenVersion }: AdminAccount,
  lifetimeSec: number,
): Promise<AdminSession> {
  const principal = { type: 'admin', id, email } as const;
  const token = await signer.signSession({ principal, tokenVersion, windowSec: lifetimeSec });
  return { token, admin: { id, email } };
}
