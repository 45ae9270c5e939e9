import { isDatabaseError, type Query, sqlState } from '@recordbus/database';
import { namePattern, tableOf } from '@recordbus/schema';
import type { Session } from '@recordbus/tokens';

/** What the rows of an account and its session say now. */
export interface AccountState {
  readonly email: string;
  readonly tokenVersion: number;
  readonly isAnonymous: boolean;
  readonly hasSession: boolean;
}

/** Reads the account and the session that a token names; undefined when there is no such account. */
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
          exists (select from system.sessions s where s.id = $2::text and s.account_id = a.id) as "hasSession"
        from ${table} a where a.id = $1::text`,
      values: [principal.id, sessionId ?? null],
    });
    return state;
  } catch (error) {
    // The collection is gone, or it is one whose records are no accounts.
    if (isDatabaseError(error, sqlState.undefinedTable, sqlState.undefinedColumn)) return undefined;
    throw error;
  }
}
