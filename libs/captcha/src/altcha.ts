import { createHash, hkdfSync } from 'node:crypto';
import { createChallenge, verifySolution } from 'altcha-lib/v1';
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
  number: z.int().nonnegative(),
  salt: z.string().max(200),
  signature: z.string().regex(/^[0-9a-f]{64}$/),
});

/** Proof-of-work captchas, which ask nobody else. Each collection has its own key, so a solution serves only one. */
export function createAltcha(secret: Uint8Array) {
  const keyOf = (collectionId: string): string =>
    Buffer.from(hkdfSync('sha256', secret, '', `recordbus captcha ${collectionId}`, 32)).toString('hex');

  return {
    challengeFor: async (collectionId: string, nowSec: number): Promise<AltchaChallenge> => ({
      ...(await createChallenge({
        hmacKey: keyOf(collectionId),
        maxnumber: maxNumber,
        expires: new Date((nowSec + lifetimeSec) * 1000),
      })),
      algorithm: 'SHA-256',
      maxnumber: maxNumber,
    }),

    async verify(collectionId: string, answer: string, nowSec: number): Promise<Verdict> {
      const given = solution.safeParse(decode(answer)).data;
      if (!given || !(await verifySolution(given, keyOf(collectionId)))) return { outcome: 'refused' };
      // The signature covers the challenge alone, so it, and not the answer's text, is what counts once.
      const id = createHash('sha256').update(given.challenge).digest('base64url');
      return { outcome: 'solved', id, expiresAtSec: nowSec + lifetimeSec };
    },
  };
}

function decode(answer: string): unknown {
  try {
    return JSON.parse(Buffer.from(answer, 'base64').toString());
  } catch {
    return undefined;
  }
}
