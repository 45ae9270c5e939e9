import { timingSafeEqual } from 'node:crypto';
import type { Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import { AppError } from '@recordbus/shared/errors';
import { type AuthParts, type Origin, tellOfWrittenUsers } from '../auth-parts.ts';
import { foldAddress } from '../lockout/fold-address.ts';
import { consumeOneTimeToken, finishOneTimeToken } from '../one-time/one-time-tokens.ts';
import { completeSignIn, type SignedIn } from '../sign-in/complete-sign-in.ts';
import { changeUser } from '../users/change-user.ts';
import { findUserByEmail, findUserById } from '../users/find-user.ts';
import { proveAddress } from '../users/prove-address.ts';
import type { User } from '../users/user.ts';
import { invalidToken } from '../verification/verification.ts';
import { guessCode } from './code-rows.ts';
import { demandCodes } from './request-code.ts';

/** The token of the link, or the address with the code. */
export type CodeProof = { readonly token: string } | { readonly email: string; readonly code: string };

/** Wrong codes that an address takes, however many codes are sent to it; the link still works then. */
const guesses = { max: 10, windowSec: 15 * 60 };

/**
 * Signs a user in by a one-time code or its link, which is used up; that proves the address too. Throws 401 for a code
 * or token that is wrong, used, expired, or of another address than the user has now, 429 for too many wrong codes.
 */
export async function signInWithCode(
  parts: AuthParts,
  collection: Collection,
  proof: CodeProof,
  origin: Origin,
): Promise<SignedIn> {
  demandCodes(parts);
  const { database, bus } = parts;
  const consume =
    'token' in proof ? consumeLink(parts, collection, proof.token) : await guess(parts, collection, proof);
  let isWritten = false;
  const signedIn = await database.transaction(async (query) => {
    const found = await consume(query);
    const user = found && (await findUserById(query, collection, found.accountId));
    if (!user || user.email.toLowerCase() !== found.email.toLowerCase()) throw invalidToken();
    const proven = user.verified ? user : await prove(query, collection, user, origin);
    isWritten = proven !== user;
    return completeSignIn(query, parts, { collection, user: proven, origin });
  });
  if (isWritten) tellOfWrittenUsers(bus);
  return signedIn;
}

interface Consumed {
  readonly accountId: string;
  /** Where the code was sent. */
  readonly email: string;
}

type Consume = (query: Query) => Promise<Consumed | undefined>;

const consumeLink =
  ({ nowSec }: AuthParts, { id: collectionId }: Collection, token: string): Consume =>
  async (query) => {
    const found = await consumeOneTimeToken(query, { purpose: 'otp', collectionId, token, nowSec: nowSec() });
    return found && { accountId: found.accountId, email: String(found.data.email) };
  };

/** Compares a code; an address that nobody has costs the same and counts the same. Throws 401, 429. */
async function guess(
  { database, guessLimit, hashCode, nowSec }: AuthParts,
  collection: Collection,
  { email, code }: { readonly email: string; readonly code: string },
): Promise<Consume> {
  const key = `codes guessed ${collection.id} ${foldAddress(email)}`;
  await guessLimit.reserve({ key, ...guesses });
  const accountId = (await findUserByEmail(database.query, collection, email))?.id ?? '';
  const live = await guessCode(database.query, { collectionId: collection.id, accountId, nowSec: nowSec() });
  if (!isSame(hashCode(accountId, code.trim()), String(live?.data.code_hash)) || !live) throw wrongCode();
  await guessLimit.clear(key);
  return async (query) =>
    (await finishOneTimeToken(query, live.tokenHash)) ? { accountId, email: String(live.data.email) } : undefined;
}

/** Closes what somebody else may have left open in an account whose address nobody had proved. */
async function prove(query: Query, collection: Collection, user: User, { context }: Origin): Promise<User> {
  const change = await proveAddress(query, user);
  const proven = await changeUser(query, collection, user.id, change, context, { email: user.email });
  if (!proven) throw invalidToken();
  return proven;
}

const isSame = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));

const wrongCode = () => new AppError(401, 'invalid_code', 'the code is wrong, used or expired');
