import type { RequestContext } from './context.ts';

/** A way to sign in. */
export type SignInFlow = 'register' | 'password' | 'otp' | 'oauth2' | 'anonymous' | 'promote' | 'second_factor';

/** Somebody who wants to sign in. */
export interface SignInAttempt {
  readonly flow: SignInFlow;
  /** Name of the auth collection. */
  readonly collection: string;
  readonly email: string | undefined;
  readonly userAgent: string | undefined;
}

/** What is to be done beside asking the hooks. */
export interface SignInVerdict {
  /** Are there any hooks of sign-ins, for whatever collection? */
  readonly hasHooks: boolean;
  /** Is somebody to be told when this sign-in has succeeded? */
  readonly wantsToKnow: boolean;
}

/** Asks the code of users before a sign-in; whoever has that code says how. */
export interface SignInHooks {
  /** Throws what refuses the attempt. */
  before(attempt: SignInAttempt, context: RequestContext): Promise<SignInVerdict>;
}

/** Where the service that has the hooks is asked by another one. */
export const signInHooksPath = '/internal/sign-in-hooks';

/** The event of a sign-in that somebody wants to know of; its data is an attempt with `user_id`. */
export const signedInEvent = 'system.signed_in';
