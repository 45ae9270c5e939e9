import type { Query } from '@recordbus/database';
import { enqueueMail, isMailConfigured } from '@recordbus/mail';
import type { Collection } from '@recordbus/schema';
import { type AuthParts, type Origin, tellOfWrittenUsers } from '../auth-parts.ts';
import { consumeOneTimeToken, findOneTimeToken, issueOneTimeToken } from '../one-time/one-time-tokens.ts';
import { auditUser } from '../users/audit-user.ts';
import { changeUser } from '../users/change-user.ts';
import { findUserByEmail, findUserById } from '../users/find-user.ts';
import { proveAddress } from '../users/prove-address.ts';
import { canReceiveMail, invalidToken } from '../verification/verification.ts';

/** Contract §4. */
const lifetimeSec = 30 * 60;

/**
 * Sends a mail to whoever forgot their password. The caller learns nothing, not even by the time it takes, about
 * whether there is such a user: everything is done after the answer.
 */
export function requestPasswordReset(parts: AuthParts, collection: Collection, email: string): void {
  const { database, settings, bus, inBackground, nowSec } = parts;
  inBackground(async () => {
    if (!isMailConfigured(settings)) return;
    const user = await findUserByEmail(database.query, collection, email);
    if (!user || !canReceiveMail(user)) return;
    await database.transaction(async (query) => {
      const token = await issueOneTimeToken(query, {
        purpose: 'password_reset',
        collectionId: collection.id,
        accountId: user.id,
        data: { email: user.email },
        nowSec: nowSec(),
        lifetimeSec,
      });
      const to = { to: user.email, collection: collection.name };
      await enqueueMail(query, { template: 'reset', ...to, token, usefulForSec: lifetimeSec });
    });
    bus.notify('mail');
  });
}

interface Reset {
  readonly token: string;
  readonly password: string;
}

/**
 * Sets a new password for the holder of a token; all sessions end, and nobody is signed in. It also proves the address.
 * Throws 401 for a bad, used or expired token, 422 for a password that is refused, which does not use the token up.
 */
export async function confirmPasswordReset(
  { database, bus, passwords, nowSec }: AuthParts,
  collection: Collection,
  { token, password }: Reset,
  origin: Origin,
): Promise<void> {
  const presented = { purpose: 'password_reset', collectionId: collection.id, token, nowSec: nowSec() } as const;
  if (!(await findOneTimeToken(database.query, presented))) throw invalidToken();
  const passwordHash = await passwords.hashNew(password);
  await database.transaction(async (query) => {
    const found = await consumeOneTimeToken(query, presented);
    if (!found || !(await setPassword(query, collection, found, passwordHash, origin.context))) throw invalidToken();
    await auditUser(query, 'users.password_reset', collection, found.accountId, origin);
  });
  tellOfWrittenUsers(bus);
}

async function setPassword(
  query: Query,
  collection: Collection,
  { accountId, data }: { readonly accountId: string; readonly data: Readonly<Record<string, unknown>> },
  passwordHash: string,
  context: Origin['context'],
) {
  const user = await findUserById(query, collection, accountId);
  const condition = { email: String(data.email) };
  if (!user) return undefined;
  const change = user.verified ? { passwordHash } : { ...(await proveAddress(query, user)), passwordHash };
  return changeUser(query, collection, accountId, change, context, condition);
}
