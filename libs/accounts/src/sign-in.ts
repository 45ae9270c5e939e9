import { z } from 'zod';

/** A way to sign in. */
export const signInFlow = z.enum(['register', 'password', 'otp', 'oauth2', 'anonymous', 'promote', 'second_factor']);
export type SignInFlow = z.infer<typeof signInFlow>;

/** An attempt to sign in. */
export const signInAttempt = z
  .object({
    flow: signInFlow,
    /** The auth collection's name. */
    collection: z.string(),
    email: z.string().optional(),
    userAgent: z.string().optional(),
  })
  .readonly();
export type SignInAttempt = z.infer<typeof signInAttempt>;

/** The event for a sign-in to a collection with hooks after it. Its data is the attempt with `user_id`. */
export const signedInEvent = 'system.signed_in';
