import { forbidden, unauthenticated } from '@recordbus/errors';
import type { Principal, RequestContext } from '@recordbus/request/context';
import type { Collection } from '@recordbus/schema';
import type { WayIn } from '@recordbus/settings';
import { z } from 'zod';
import type { AuthCollections } from '../auth-collections.ts';
import type { AuthParts } from '../auth-parts.ts';
import { requireWay } from '../features.ts';
import type { CallerProof } from '../identity/proof-of-caller.ts';
import { requireOpenSignUp } from '../sign-up/require-open.ts';

/** Returns an auth route's path: `/api/v1/auth/<collection>` and the suffix. */
export const authPath = (suffix: string): string => `/api/v1/auth/:collection${suffix}`;

export const authParams = z.object({ collection: z.string() });

/** A string in a body, unchanged. */
export const text = z.string('must be a string');

/** The proof by password, where a session alone is not enough (identity §5.2). */
export const oldPassword = text
  .optional()
  .describe("the account's password; without it a sign-in within the last 10 minutes may suffice");

/** The member with a captcha's answer, in bodies without the collection's fields (auth §10.2). */
export const captchaAnswer = text
  .optional()
  .describe('the solved captcha, where the setting auth.captcha.<collection> asks for one; or the header X-Captcha');

interface Input {
  readonly params: { readonly collection: string };
  readonly context: RequestContext;
}

/** Refuses a collection that is not an auth collection, before all other checks (auth §1.1). */
export const admitTo =
  (collections: AuthCollections) =>
  async ({ params }: Pick<Input, 'params'>): Promise<void> => {
    await collections.get(params.collection);
  };

/** Like `admitTo`, and refuses a way to sign in that the collection does not take (auth §1.6), before the body is read. */
export const admitToWay =
  ({ collections, settings }: Pick<AuthParts, 'collections' | 'settings'>, way: WayIn) =>
  async ({ params }: Pick<Input, 'params'>): Promise<void> =>
    requireWay(settings, await collections.get(params.collection), way);

/** The 403 that sign-up routes declare. */
export const signUpRefused = 'sign-up is closed, or the create rule refuses the account';

/** Like `admitToWay`, for sign-up routes: also refuses closed sign-up before the body is read (auth §3.2). */
export const admitToSignUp =
  (parts: Pick<AuthParts, 'collections' | 'settings'>, way: WayIn) =>
  async ({ params, context }: Input): Promise<void> => {
    const collection = await parts.collections.get(params.collection);
    requireOpenSignUp(parts, collection, context.principal);
    requireWay(parts.settings, collection, way);
  };

type User = Extract<Principal, { type: 'user' }>;

/** Returns the calling user, or the user as whom an admin acts. Throws 403 for a user in another collection. */
export function callerIn({ name }: Pick<Collection, 'name'>, { principal }: Pick<RequestContext, 'principal'>): User {
  if (principal.type !== 'user') throw unauthenticated();
  if (principal.collection !== name) throw forbidden('the token belongs to a user in another collection');
  return principal;
}

/**
 * Returns the calling user, for changes to the ways to sign in. Also throws 403 for an admin who acts as the user
 * (identity §5.5).
 */
export function holderIn(collection: Pick<Collection, 'name'>, context: Pick<RequestContext, 'principal'>): User {
  const caller = callerIn(collection, context);
  if (caller.impersonatedBy)
    throw forbidden('only the user can do this, not an admin who acts as them', 'impersonated');
  return caller;
}

/** Returns the proof that the caller offers. Throws 403 like `holderIn`. */
export const callerProof = (
  collection: Pick<Collection, 'name'>,
  { context, body }: Pick<Input, 'context'> & { readonly body: { readonly old_password?: string | undefined } },
): CallerProof => ({ userId: holderIn(collection, context).id, oldPassword: body.old_password, context });
