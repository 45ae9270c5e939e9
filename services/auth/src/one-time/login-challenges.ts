import { createHash, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { type Query, useToken } from '@recordbus/database';

/** How long a challenge may be answered, in seconds (auth §4.6). */
export const challengeLifetimeSec = 300;

/** A challenge that this system made. */
export interface LoginChallenge {
  readonly text: string;
  readonly expiresAtSec: number;
}

/**
 * Challenges for sign-ins that name no account. They carry their own proof, so a stranger who requests any number leaves
 * no row, and every replica knows them. Only a used one gets a row, by `useLoginChallenge`.
 */
export interface LoginChallenges {
  /** Makes a challenge for a collection's users or for the admins. */
  issue(realm: string): LoginChallenge;
  /** Reads a challenge; undefined for one that is another realm's, expired, or was never made. Accepts any text. */
  read(realm: string, text: string): LoginChallenge | undefined;
}

const nonceBytes = 32;
const timeBytes = 6;
const macBytes = 32;
const textLength = Math.ceil(((nonceBytes + timeBytes + macBytes) * 4) / 3);

/** Creates the challenges. Their key is derived from the token secret, which all replicas have. */
export function createLoginChallenges(secret: Uint8Array, nowSec: () => number): LoginChallenges {
  const key = new Uint8Array(hkdfSync('sha256', secret, '', 'recordbus passkey challenges', 32));
  const macOf = (realm: string, body: Buffer) => createHmac('sha256', key).update(body).update(realm).digest();
  return {
    issue(realm) {
      const expiresAtSec = nowSec() + challengeLifetimeSec;
      const body = Buffer.alloc(nonceBytes + timeBytes);
      randomBytes(nonceBytes).copy(body);
      body.writeUIntBE(expiresAtSec, nonceBytes, timeBytes);
      return { text: Buffer.concat([body, macOf(realm, body)]).toString('base64url'), expiresAtSec };
    },
    read(realm, text) {
      if (text.length !== textLength) return undefined;
      const bytes = Buffer.from(text, 'base64url');
      // Another spelling of the same bytes would be another text in the table of used ones.
      if (bytes.toString('base64url') !== text) return undefined;
      const body = bytes.subarray(0, nonceBytes + timeBytes);
      if (!timingSafeEqual(macOf(realm, body), bytes.subarray(body.length))) return undefined;
      const expiresAtSec = body.readUIntBE(nonceBytes, timeBytes);
      return expiresAtSec > nowSec() ? { text, expiresAtSec } : undefined;
    },
  };
}

/** Uses up a challenge in the sign-in's transaction. When uses are simultaneous, exactly one returns true. */
export const useLoginChallenge = (query: Query, { text, expiresAtSec }: LoginChallenge): Promise<boolean> =>
  useToken(query, { id: `passkey:${createHash('sha256').update(text).digest('base64url')}`, expiresAtSec });
