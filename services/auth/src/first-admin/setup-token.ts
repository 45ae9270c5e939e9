import { createHash, randomBytes } from 'node:crypto';

/** Returns a new one-time token for creating the first admin: 24 random bytes, short enough to type. */
export const newSetupToken = (): string => randomBytes(24).toString('base64url');

/** Returns a set-up token's stored form. A plain hash suffices, because 192 random bits cannot be guessed. */
export const hashSetupToken = (token: string): string => createHash('sha256').update(token).digest('hex');
