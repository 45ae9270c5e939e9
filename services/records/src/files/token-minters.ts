import type { Query } from '@recordbus/database';
import { type Collection, tableOf } from '@recordbus/schema';
import type { SessionPrincipal } from '@recordbus/tokens';

/** What the account of whoever minted a file token says now. */
interface MinterState {
  readonly tokenVersion: number;
  /** True as well for tokens that belong to no session. */
  readonly isSessionAlive: boolean;
}

/** The state of a minter's account; undefined when the account, or its collection, is gone. */
export async function findMinterState(
  query: Query,
  minter: SessionPrincipal,
  findCollection: (name: string) => Collection | undefined,
): Promise<MinterState | undefined> {
  const collection = minter.type === 'user' ? findCollection(minter.collection) : undefined;
  if (minter.type === 'user' && collection?.type !== 'auth') return undefined;
  const [state] = await query<MinterState>({
    text: `select a.token_version as "tokenVersion",
  $2::text is null or exists (
    select from system.sessions s where s.id = $2 and s.expires_at > extract(epoch from now())
  ) as "isSessionAlive"
from ${collection ? tableOf(collection) : 'system.admins'} a where a.id = $1`,
    values: [minter.id, minter.sessionId ?? null],
  });
  return state;
}
