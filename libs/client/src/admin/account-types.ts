import type { SessionRow } from '../auth/own-account.ts';
import type { Passkey } from '../auth/passkeys.ts';

export interface AdminAccount {
  readonly id: string;
  readonly email: string;
  readonly created_at: number;
  /** Whether signing in needs a second factor. */
  readonly second_factor: boolean;
}

/** An auth collection's user, as admins see it. */
export interface UserAccount {
  readonly id: string;
  readonly email: string;
  readonly verified: boolean;
  readonly anonymous: boolean;
  readonly second_factor: boolean;
  readonly blocked_at: number | null;
  readonly created_at: number;
  readonly last_used_at: number | null;
}

/** A user with the ways into the account. */
export interface UserDetails extends UserAccount {
  readonly has_password: boolean;
  readonly recovery_codes: number;
  readonly links: readonly { readonly provider: string; readonly created_at: number }[];
  readonly passkeys: readonly Passkey[];
  readonly sessions: readonly Omit<SessionRow, 'current'>[];
}
