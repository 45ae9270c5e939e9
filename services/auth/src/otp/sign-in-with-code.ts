import { findUserByEmail, findUserById, finishOneTimeToken } from '@recordbus/accounts';
import { isSameText } from '@recordbus/crypto/is-same-text';
import type { Query } from '@recordbus/database';
import { AppError } from '@recordbus/errors';
import type { Collection } from '@recordbus/schema';
import type { AuthParts, Origin } from '../auth-parts.ts';
import { foldAddress } from '../lockout/fold-address.ts';
import { guessCode } from '../one-time/code-rows.ts';
import { findOneTimeToken, hashOneTimeToken } from '../one-time/one-time-tokens.ts';
import { typedCode } from '../one-time/typed-code.ts';
import { completeSignIn, type SignedIn } from '../sign-in/complete-sign-in.ts';
import { writeUserChange } from '../users/write-user.ts';
import { invalidToken } from '../verification/verification.ts';
import { requireCodes } from './request-code.ts';

/** The link's token, or the address with the code. */
export type CodeProof = { readonly token: string } | { readonly email: string; readonly code: string };

/** The limit on wrong codes for an address, over all its codes. Links work beyond it (auth §5.4). */
const guesses = { max: 10, windowSec: 15 * 60 };

/**
 * Signs a user in with a one-time code or its link (auth §5.3), which uses both up and proves the address. Throws 401
 * for a code or token that is wrong, used, expired or for a former address, 429 for too many wrong codes.
 */
export async function signInWithCode(
  parts: AuthParts,
  collection: Collection,
  proof: CodeProof,
  origin: Origin,
): Promise<SignedIn> {
  requireCodes(parts);
  const { database } = parts;
  const found =
    'token' in proof ? await findLink(parts, collection, proof.token) : await guess(parts, collection, proof);
  const user = found && (await findAddressee(database.query, collection, found));
  if (!user) throw invalidToken();
  if (!user.verified) return signInWithFirstProof(parts, collection, found, origin);
  return database.transaction(async (query) => {
    const isMine = await finishOneTimeToken(query, found.tokenHash);
    const user = isMine && (await findAddressee(query, collection, found));
    if (!user) throw invalidToken();
    return completeSignIn(query, parts, { collection, user, origin, factor: 'email' });
  });
}

/** A right code or link. */
interface Found {
  readonly accountId: string;
  /** The address that it was sent to. */
  readonly email: string;
  readonly tokenHash: string;
}

/** Finds the user, if the user still has the address that the code was sent to. */
async function findAddressee(query: Query, collection: Collection, { accountId, email }: Found) {
  const user = await findUserById(query, collection, accountId);
  return user?.email.toLowerCase() === email.toLowerCase() ? user : undefined;
}

async function findLink(
  { database, nowSec }: AuthParts,
  { id: collectionId }: Collection,
  token: string,
): Promise<Found | undefined> {
  const found = await findOneTimeToken(database.query, { purpose: 'otp', collectionId, token, nowSec: nowSec() });
  return found && { accountId: found.accountId, email: String(found.data.email), tokenHash: hashOneTimeToken(token) };
}

/** Checks a code. An unknown address takes the same time and counts the same. Throws 401, 429. */
async function guess(
  { database, guessLimit, hashCode, nowSec }: AuthParts,
  collection: Collection,
  { email, code }: { readonly email: string; readonly code: string },
): Promise<Found> {
  const key = `codes guessed ${collection.id} ${foldAddress(email)}`;
  await guessLimit.reserve({ key, ...guesses });
  const accountId = (await findUserByEmail(database.query, collection, email))?.id ?? '';
  const live = await guessCode(database.query, { collectionId: collection.id, accountId, nowSec: nowSec() });
  if (!isSameText(hashCode(accountId, typedCode(code)), String(live?.data.code_hash)) || !live) throw wrongCode();
  await guessLimit.clear(key);
  return { accountId, email: String(live.data.email), tokenHash: live.tokenHash };
}

/** Signs a user in by the address's first proof, which removes other ways in (identity §2.2). */
const signInWithFirstProof = (
  parts: AuthParts,
  collection: Collection,
  { accountId, email, tokenHash }: Found,
  origin: Origin,
): Promise<SignedIn> =>
  writeUserChange(parts, collection, {
    change: {
      id: accountId,
      fields: { verified: true },
      closesOtherWaysIn: true,
      signsIn: true,
      condition: { email },
      tokenHash,
    },
    context: origin.context,
    refusal: invalidToken,
    finish: ({ query }, user, collection) =>
      completeSignIn(query, parts, { collection, user, origin, factor: 'email' }),
  });

const wrongCode = () => new AppError(401, 'invalid_code', 'the code is wrong, used or expired');
