import type { Collection } from '@recordbus/schema';
import type { Principal, RequestContext } from '@recordbus/shared/context';
import { forbidden, unauthenticated } from '@recordbus/shared/errors';
import { z } from 'zod';
import type { AuthCollections } from '../collections/auth-collections.ts';

/** The path of an auth route of a collection: `/api/v1/auth/<col>` and the suffix. */
export const authPath = (suffix: string): string => `/api/v1/auth/:collection${suffix}`;

export const authParams = z.object({ collection: z.string() });

/** A string of a body, as it is. */
export const text = z.string('must be a string');

interface Input {
  readonly params: { readonly collection: string };
  readonly context: RequestContext;
}

/** Refuses a collection that has no users before anything else of the request is looked at (contract §4). */
export const admitTo =
  (collections: AuthCollections) =>
  async ({ params }: Pick<Input, 'params'>): Promise<void> => {
    await collections.get(params.collection);
  };

type User = Extract<Principal, { type: 'user' }>;

/** The user who calls, or as whom an admin acts. Throws 403 for one of another collection. */
export function callerIn({ name }: Pick<Collection, 'name'>, { principal }: Pick<RequestContext, 'principal'>): User {
  if (principal.type !== 'user') throw unauthenticated();
  if (principal.collection !== name) throw forbidden('the token is of a user of another collection');
  return principal;
}

/**
 * The user who calls, for what opens their account or closes it: an admin who acts as them can't (docs/security.md).
 * Throws 403.
 */
export function holderIn(collection: Pick<Collection, 'name'>, context: Pick<RequestContext, 'principal'>): User {
  const caller = callerIn(collection, context);
  if (caller.impersonatedBy)
    throw forbidden('only the user can do this, not an admin who acts as them', 'impersonated');
  return caller;
}
