import { createHash, randomBytes } from 'node:crypto';

/** A new one-time token for making the first admin: 24 random bytes, to be typed or pasted from a terminal. */
export const newSetupToken = (): string => randomBytes(24).toString('base64url');

/** What is stored of a set-up token. A plain hash does: the token has 192 bits, so there is nothing to guess. */
export const hashSetupToken = (token: string): string => createHash('sha256').update(token).digest('hex');
