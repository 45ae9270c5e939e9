import { z } from 'zod';

/** A sign-in's first factor; a mailed code and its link are `email`. */
export const firstFactor = z.enum(['password', 'email', 'oauth2', 'passkey']);
export type FirstFactor = z.infer<typeof firstFactor>;

/** What a sign-in was proved with, as rules read it (auth §6.9). `mfa` is added when two factors were. */
export type Factor = FirstFactor | 'totp' | 'recovery_code' | 'mfa';

/** The factors of a sign-in with a second one. Each is named once. */
export const bothFactors = (...factors: readonly Exclude<Factor, 'mfa'>[]): readonly Factor[] => [
  ...new Set<Factor>([...factors, 'mfa']),
];
