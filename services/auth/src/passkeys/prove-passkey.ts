import { findPasskey, usePasskey } from '@recordbus/accounts';
import type { Query } from '@recordbus/database';
import type { AuthParts } from '../auth-parts.ts';
import { useLoginChallenge } from '../one-time/login-challenges.ts';
import { badPasskey, checked } from './bad-passkey.ts';
import { requireRelyingParty } from './relying-party.ts';
import { type AssertionJson, checkAssertion, requestOptions } from './web-authn.ts';

type Parts = Pick<AuthParts, 'database' | 'settings' | 'loginChallenges' | 'log' | 'nowSec'>;

/** Returns the browser's options for a sign-in. They name no account, so they tell nothing about one. */
export async function beginSignIn(parts: Pick<Parts, 'settings' | 'loginChallenges'>, realm: string) {
  const party = requireRelyingParty(parts.settings);
  const { text, expiresAtSec } = parts.loginChallenges.issue(realm);
  return { challenge_id: text, options: await requestOptions(party, text), expires: expiresAtSec };
}

/** The browser's answer to the options. */
export interface OfferedPasskey {
  readonly challengeId: string;
  readonly credential: AssertionJson;
}

/** The account that a passkey opens. */
export interface ProvedPasskey {
  readonly accountId: string;
  readonly isUserVerified: boolean;
  /** Uses up the challenge and notes the use, in the sign-in's transaction. Throws the 401 when another was first. */
  accept(query: Query): Promise<void>;
}

/**
 * Checks an assertion. Throws the same 401 for every bad one: unknown key, wrong signature, origin, site, handle or
 * count, and a challenge that is another realm's, used or expired.
 */
export async function provePasskey(
  parts: Parts,
  realm: string,
  { challengeId, credential }: OfferedPasskey,
): Promise<ProvedPasskey> {
  const { database, loginChallenges, nowSec } = parts;
  const party = requireRelyingParty(parts.settings);
  const challenge = loginChallenges.read(realm, challengeId);
  const passkey = challenge && (await findPasskey(database.query, realm, Buffer.from(credential.id, 'base64url')));
  if (!passkey) throw badPasskey();
  const proved = await checked(parts, () => checkAssertion(credential, passkey, { party, challenge: challenge.text }));
  return {
    accountId: passkey.accountId,
    isUserVerified: proved.isUserVerified,
    async accept(query) {
      const isFirst = await useLoginChallenge(query, challenge);
      if (!isFirst || !(await usePasskey(query, proved, nowSec()))) throw badPasskey();
    },
  };
}
