import { createHash, createHmac, hkdfSync, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { Verdict } from './verdict.ts';

/** The work: a client tries half as many hashes on average. A phone does it in about a second. */
const maxNumber = 100_000;

/** How long a challenge can be solved, in seconds. */
const lifetimeSec = 10 * 60;

/** A challenge, as ALTCHA's clients read it (version 1). */
export const altchaChallenge = z.object({
  algorithm: z.literal('SHA-256'),
  challenge: z.string().describe('the hash to find, in hex'),
  maxnumber: z.int().describe('the highest number to try'),
  salt: z.string().describe('what the number is appended to; it has the expiry'),
  signature: z.string().describe('what proves that the challenge was made here, in hex'),
});
export type AltchaChallenge = z.infer<typeof altchaChallenge>;

const solution = z.object({
  algorithm: z.literal('SHA-256'),
  challenge: z.string().regex(/^[0-9a-f]{64}$/),
  number: z.int().min(0).max(maxNumber),
  salt: z.string().max(200),
  signature: z.string().regex(/^[0-9a-f]{64}$/),
});

/**
 * Proof-of-work captchas, which ask nobody else. A challenge is the hash of a salt with a secret number, and it is signed, so no
 * replica keeps any. Each collection has its own key, so a solution serves only one.
 */
export function createAltcha(secret: Uint8Array) {
  const keyOf = (collectionId: string): Uint8Array =>
    new Uint8Array(hkdfSync('sha256', secret, '', `recordbus captcha ${collectionId}`, 32));

  return {
    challengeFor(collectionId: string, nowSec: number): AltchaChallenge {
      // The salt ends with a separator, so that no digit of the number can pass for one of the expiry.
      const salt = `${randomBytes(12).toString('hex')}?expires=${nowSec + lifetimeSec}&`;
      const challenge = hashOf(salt, randomInt(maxNumber));
      const signature = signatureOf(keyOf(collectionId), challenge);
      return { algorithm: 'SHA-256', challenge, maxnumber: maxNumber, salt, signature };
    },

    verify(collectionId: string, answer: string, nowSec: number): Verdict {
      const given = solution.safeParse(decode(answer)).data;
      if (!given || expiryOf(given.salt) <= nowSec) return { outcome: 'refused' };
      const isOurs = isEqual(signatureOf(keyOf(collectionId), given.challenge), given.signature);
      if (!isOurs || !isEqual(hashOf(given.salt, given.number), given.challenge)) return { outcome: 'refused' };
      // The signature covers the challenge alone, so it, and not the answer's text, is what counts once.
      const id = createHash('sha256').update(given.challenge).digest('base64url');
      return { outcome: 'solved', id, expiresAtSec: nowSec + lifetimeSec };
    },
  };
}

const hashOf = (salt: string, number: number): string => createHash('sha256').update(`${salt}${number}`).digest('hex');

const signatureOf = (key: Uint8Array, challenge: string): string =>
  createHmac('sha256', key).update(challenge).digest('hex');

/** Compares two hashes in hex. */
const isEqual = (one: string, other: string): boolean => timingSafeEqual(Buffer.from(one), Buffer.from(other));

/** When a challenge with this salt expires, in unix seconds; 0 for a salt that is not ours. */
const expiryOf = (salt: string): number => Number(/^[0-9a-f]{24}\?expires=([0-9]{1,12})&$/.exec(salt)?.[1] ?? 0);

function decode(answer: string): unknown {
  try {
    return JSON.parse(Buffer.from(answer, 'base64').toString());
  } catch {
    return undefined;
  }
}
