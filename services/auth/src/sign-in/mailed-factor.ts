import { randomInt } from 'node:crypto';
import { finishOneTimeToken, type User } from '@recordbus/accounts';
import { isSameText } from '@recordbus/crypto/is-same-text';
import type { Query } from '@recordbus/database';
import { enqueueMail, findLanguage, isMailConfigured } from '@recordbus/mail';
import type { Collection } from '@recordbus/schema';
import type { AuthParts } from '../auth-parts.ts';
import { codesSent, guessCode } from '../one-time/code-rows.ts';
import { typedCode } from '../one-time/typed-code.ts';
import { wrongFactor } from '../totp/second-factor.ts';
import { mailNotConfigured } from '../verification/verification.ts';

/** How long a mailed code lasts, in seconds (auth §5.2, §6.11). */
export const codeLifetimeSec = 10 * 60;

/**
 * Mails the code for the second step in the sign-in's transaction, and returns what its token keeps. Throws 422 while mail
 * is not configured, 429 after too many codes for the account.
 */
export async function mailSecondCode(
  query: Query,
  { settings, guessLimit, hashCode, inBackground, bus }: AuthParts,
  { id: collectionId, name: collection }: Collection,
  { id, email, record }: User,
): Promise<{ readonly code_hash: string; readonly email: string }> {
  if (!isMailConfigured(settings)) throw mailNotConfigured();
  await guessLimit.reserve(codesSent(collectionId, id));
  const code = randomInt(1_000_000).toString().padStart(6, '0');
  const about = { collectionId, recordId: id };
  const to = { to: email, collection, about, lang: findLanguage(settings, collection, record) };
  await enqueueMail(query, { template: 'mfa', ...to, code, usefulForSec: codeLifetimeSec });
  inBackground(async () => bus.notify('mail'));
  return { code_hash: hashCode(id, code), email };
}

/**
 * Checks a mailed code and returns the function that uses it up. The account's code for signing in counts as well: it went
 * to the same mailbox, and PocketBase's clients ask for one. Throws 401 for a wrong code.
 */
export async function readMailedCode(
  { database, hashCode, nowSec }: AuthParts,
  { id: collectionId }: Collection,
  { accountId, data }: { readonly accountId: string; readonly data: Readonly<Record<string, unknown>> },
  typed: string,
): Promise<(query: Query) => Promise<boolean>> {
  const hash = hashCode(accountId, typedCode(typed));
  if (isSameText(hash, String(data.code_hash))) return async () => true;
  const live = await guessCode(database.query, { collectionId, accountId, nowSec: nowSec() });
  if (!live || live.data.email !== data.email || !isSameText(hash, String(live.data.code_hash))) throw wrongFactor();
  return (query) => finishOneTimeToken(query, live.tokenHash);
}
