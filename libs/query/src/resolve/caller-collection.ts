import type { Collection } from '@recordbus/schema';
import type { Principal } from '@recordbus/shared/context';
import type { QuerySchema } from './scope.ts';

/** Returns the collection of a caller's account; undefined for guests and admins. */
export const callerCollection = (
  principal: Principal,
  schema: Pick<QuerySchema, 'findCollection'>,
): Collection | undefined => {
  const found = principal.type === 'user' ? schema.findCollection(principal.collection) : undefined;
  return found?.type === 'auth' ? found : undefined;
};
