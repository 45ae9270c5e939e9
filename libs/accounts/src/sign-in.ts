import { z } from 'zod';

/** A way to sign in. */
export const signInFlow = z.enum(['register', 'password', 'otp', 'oauth2', 'anonymous', 'promote', 'second_factor']);
export type SignInFlow = z.infer<typeof signInFlow>;

/** Somebody who wants to sign in. */
export const signInAttempt = z
  .object({
    flow: signInFlow,
    /** Name of the auth collection. */
    collection: z.string(),
    email: z.string().optional(),
    userAgent: z.string().optional(),
  })
  .readonly();
export type SignInAttempt = z.infer<typeof signInAttempt>;

/** The event of a sign-in that somebody wants to know of; its data is an attempt with `user_id`. */
export const signedInEvent = 'system.signed_in';
