import { randomBytes } from 'node:crypto';
import { finishOneTimeToken, insertPasskey, listPasskeys, type Passkey, type PasskeyOwner } from '@recordbus/accounts';
import type { Query } from '@recordbus/database';
import { conflict } from '@recordbus/errors';
import { z } from 'zod';
import type { AuthParts } from '../auth-parts.ts';
import { challengeLifetimeSec } from '../one-time/login-challenges.ts';
import { findOneTimeToken, hashOneTimeToken, issueOneTimeToken } from '../one-time/one-time-tokens.ts';
import { badPasskey, checked } from './bad-passkey.ts';
import { requireRelyingParty } from './relying-party.ts';
import { checkNewCredential, creationOptions, type NewCredential, type NewCredentialJson } from './web-authn.ts';

/** How many passkeys an account may have (auth §4.6). */
const maxPasskeys = 20;

const handleBytes = 32;

type Parts = Pick<AuthParts, 'database' | 'settings' | 'log' | 'nowSec'>;

/** The account, and the session that adds a passkey to it. */
export interface AddingTo extends PasskeyOwner {
  readonly sessionId: string | undefined;
}

const challengeData = z.object({ sessionId: z.string().nullable(), handle: z.string() });

/**
 * Begins to add a passkey: returns the browser's options. The caller has checked the proof. The challenge is a one-time
 * token, so it ends with the account's pending links. Throws 409 for an account with twenty passkeys.
 */
export async function beginPasskey(parts: Parts, { sessionId, ...owner }: AddingTo, email: string) {
  const { database, nowSec } = parts;
  const party = requireRelyingParty(parts.settings);
  const existing = await listPasskeys(database.query, owner);
  if (existing.length >= maxPasskeys) throw tooMany();
  const handle = existing[0]?.userHandle ?? randomBytes(handleBytes);
  const challenge = await issueOneTimeToken(database.query, {
    purpose: 'passkey',
    collectionId: owner.realm,
    accountId: owner.accountId,
    data: { sessionId: sessionId ?? null, handle: handle.toString('base64url') },
    nowSec: nowSec(),
    lifetimeSec: challengeLifetimeSec,
  });
  const options = await creationOptions(party, { handle, email }, challenge, existing);
  return { challenge_id: challenge, options, expires: nowSec() + challengeLifetimeSec };
}

/** The browser's answer to the options. */
export interface NewPasskey {
  readonly challengeId: string;
  readonly credential: NewCredentialJson;
  readonly name: string;
}

/** Locks the account and notes the change, in its transaction. */
interface Adding {
  /** False when the account is gone. */
  lock(query: Query): Promise<boolean>;
  note(query: Query, made: Pick<NewCredential, 'isUserVerified'>): Promise<void>;
}

/**
 * Adds the passkey that the browser made. Throws 401 for a bad credential and for a challenge that is another session's,
 * used or expired; 409 for a key that is an account's already, and for the twenty-first.
 */
export async function finishPasskey(
  parts: Parts,
  { sessionId, ...owner }: AddingTo,
  { challengeId, credential, name }: NewPasskey,
  { lock, note }: Adding,
): Promise<Passkey> {
  const { database, nowSec } = parts;
  const party = requireRelyingParty(parts.settings);
  const presented = { purpose: 'passkey', collectionId: owner.realm, token: challengeId, nowSec: nowSec() } as const;
  const found = await findOneTimeToken(database.query, presented);
  const data = challengeData.safeParse(found?.data).data;
  if (found?.accountId !== owner.accountId || !data || data.sessionId !== (sessionId ?? null)) throw badPasskey();
  const made = await checked(parts, () => checkNewCredential(credential, { party, challenge: challengeId }));
  return database.transaction(async (query) => {
    if (!(await lock(query)) || !(await finishOneTimeToken(query, hashOneTimeToken(challengeId)))) throw badPasskey();
    if ((await listPasskeys(query, owner)).length >= maxPasskeys) throw tooMany();
    const userHandle = Buffer.from(data.handle, 'base64url');
    const added = await insertPasskey(query, owner, { credential: made, userHandle, name, nowSec: nowSec() });
    if (!added) throw conflict('passkey_exists', 'this passkey is in use already');
    await note(query, made);
    return added;
  });
}

const tooMany = () => conflict('too_many_passkeys', `an account may have ${maxPasskeys} passkeys: remove one first`);
