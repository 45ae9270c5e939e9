import type { Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import type { AuthParts } from '../auth-parts.ts';
import type { SecondFactorName } from '../sessions/factors.ts';
import { usersOf } from '../totp/factor-accounts.ts';
import { readFactor, type SecondFactor, wrongFactor } from '../totp/second-factor.ts';
import { readMailedCode } from './mailed-factor.ts';

/** A passkey's assertion that was checked. */
interface ProvedKey {
  readonly accountId: string;
  /** Throws 401 when another request has used it. */
  accept(query: Query): Promise<void>;
}

/** A code, a recovery code, or a passkey, which `prove` checks. */
export type OfferedFactor = SecondFactor | { readonly prove: () => Promise<ProvedKey> };

/** A right factor. */
interface RightFactor {
  readonly name: SecondFactorName;
  /** Uses it up; false when another request has used it. */
  accept(query: Query): Promise<boolean>;
}

/** Checks the factor for which a sign-in waits (auth §6.4). Throws 401 for a wrong one, and for one of another kind. */
export async function readOfferedFactor(
  parts: AuthParts,
  collection: Collection,
  waiting: { readonly accountId: string; readonly data: Readonly<Record<string, unknown>> },
  offered: OfferedFactor,
): Promise<RightFactor> {
  const { accountId, data } = waiting;
  // A token of an earlier version names nothing: it waits for an app.
  const missing = data.missing ?? 'app';
  if ('prove' in offered) {
    const proved = missing === 'passkey' ? await offered.prove() : undefined;
    if (proved?.accountId !== accountId) throw wrongFactor();
    return { name: 'passkey', accept: (query) => proved.accept(query).then(() => true) };
  }
  if (missing === 'email' && 'code' in offered)
    return { name: 'email', accept: await readMailedCode(parts, collection, waiting, offered.code) };
  if (missing !== 'app') throw wrongFactor();
  const accept = await readFactor(parts, usersOf(collection), accountId, offered);
  return { name: 'code' in offered ? 'totp' : 'recovery_code', accept };
}
