import type { Principal } from '@recordbus/request/context';
import type { Collection } from '@recordbus/schema';
import type { QuerySchema } from './scope.ts';

/** The collection for whose callers expressions are compiled; undefined for guests and admins. */
export const callerCollection = (
  principal: Principal,
  schema: Pick<QuerySchema, 'findCollection'>,
): Collection | undefined => {
  if (principal.type === 'service') return serviceAccount;
  const found = principal.type === 'user' ? schema.findCollection(principal.collection) : undefined;
  return found?.type === 'auth' ? found : undefined;
};

/** Represents a service key's account, which has no row: every path into it is null, except for its id and type. */
export const serviceAccount: Collection = {
  id: 'service',
  name: '',
  type: 'auth',
  fields: [],
  viewQuery: null,
  rules: { list: '', view: '', create: '', update: '', delete: '' },
  historyEnabled: false,
  createdAtSec: 0,
  updatedAtSec: 0,
};
