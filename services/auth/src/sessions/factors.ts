import { z } from 'zod';

/** A sign-in's first factor; a mailed code and its link are `email`. */
export const firstFactor = z.enum(['password', 'email', 'oauth2', 'passkey']);
export type FirstFactor = z.infer<typeof firstFactor>;

/** A sign-in's second factor. */
export type SecondFactorName = 'totp' | 'recovery_code' | 'email' | 'passkey';

/** The factors of a sign-in with a second one, as rules read them (auth §6.9). Each is named once. */
export const bothFactors = (...factors: readonly string[]): readonly string[] => [...new Set([...factors, 'mfa'])];
