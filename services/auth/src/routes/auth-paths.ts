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

/** The user who calls. Throws 403 for one of another collection. */
export function callerIn(collection: Collection, { principal }: RequestContext): Extract<Principal, { type: 'user' }> {
  if (principal.type !== 'user') throw unauthenticated();
  if (principal.collection !== collection.name) throw forbidden('the token is of a user of another collection');
  return principal;
}
