import { isDatabaseError, type Query, sqlState } from '@recordbus/database';
import { namePattern, tableOf } from '@recordbus/schema';
import type { Session } from '@recordbus/tokens';

/** The current state of an account and its session. */
export interface AccountState {
  readonly email: string;
  readonly tokenVersion: number;
  readonly isAnonymous: boolean;
  /** Always false for admins: their addresses are not verified. */
  readonly isVerified: boolean;
  readonly hasSession: boolean;
  /** The factors of the session's sign-in; empty for a session without one. */
  readonly factors: readonly string[];
  /** When the sign-in happened, in unix seconds; null for a session without one. */
  readonly signedInAtSec: number | null;
}

const isNotBlocked = 'not exists (select from system.blocked_accounts b where b.account_id = a.id)';

/** Reads the account and the session that a token names; undefined when the account does not exist or is blocked. */
export async function findAccountState(
  query: Query,
  { principal, sessionId }: Session,
): Promise<AccountState | undefined> {
  const isUser = principal.type === 'user';
  if (isUser && !namePattern.test(principal.collection)) return undefined;
  const table = isUser ? tableOf({ name: principal.collection }) : 'system.admins';
  try {
    const [state] = await query<AccountState>({
      text: `select a.email, a.token_version as "tokenVersion", ${isUser ? 'a.is_anonymous' : 'false'} as "isAnonymous",
          ${isUser ? 'coalesce(a.verified, false)' : 'false'} as "isVerified",
          s.id is not null as "hasSession", coalesce(s.factors, '{}') as factors, s.signed_in_at as "signedInAtSec"
        from ${table} a left join system.sessions s on s.id = $2::text and s.account_id = a.id
        where a.id = $1::text${isUser ? ` and ${isNotBlocked}` : ''}`,
      values: [principal.id, sessionId ?? null],
    });
    return state;
  } catch (error) {
    // The collection no longer exists, or it is not an auth collection.
    if (isDatabaseError(error, sqlState.undefinedTable, sqlState.undefinedColumn)) return undefined;
    throw error;
  }
}
