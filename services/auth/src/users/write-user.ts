import {
  type AccountHooks,
  changeUser,
  createUser,
  findUserById,
  isHooked,
  type NewUser,
  type Removable,
  type User,
  type UserChange,
} from '@recordbus/accounts';
import type { Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import type { RequestContext } from '@recordbus/shared/context';
import { type AppError, notFound } from '@recordbus/shared/errors';
import { type AuthParts, notifyUsersWritten } from '../auth-parts.ts';

type Parts = Pick<AuthParts, 'database' | 'bus' | 'encryption' | 'collections' | 'schema'> & {
  readonly accountHooks: AccountHooks;
};

/** Completes the write of a user, in its transaction, or in a later one when the write has hooks. */
type Finish<T> = (query: Query, user: User, collection: Collection) => Promise<T>;

/** The same for a change. `removed` names the ways in that the change removed. */
type FinishChange<T> = (query: Query, user: User, collection: Collection, removed: readonly Removable[]) => Promise<T>;

interface Making<T> {
  readonly user: NewUser;
  readonly context: RequestContext;
  /** For a user with a link: finds the user who already has the link. */
  readonly findOther?: (query: Query, collection: Collection) => Promise<User | undefined>;
  readonly finish: Finish<T>;
}

/**
 * Creates a user and runs `finish`, in one transaction. For a collection with create hooks the service that runs these
 * creates the user, in one transaction with their writes, and `finish` runs in another one (extensions §3.3). Throws
 * the errors of `createUser` and the refusals of hooks.
 */
export async function writeNewUser<T>(
  parts: Parts,
  collection: Collection,
  { user, context, findOther, finish }: Making<T>,
): Promise<T> {
  const { database, bus, accountHooks } = parts;
  const finishWith = async (query: Query, written: User | undefined, collection: Collection) => {
    const found = written ?? (await findOther?.(query, collection));
    if (!found) throw notFound('user');
    return finish(query, found, collection);
  };
  if (isHooked(accountHooks, 'create', collection)) {
    await accountHooks.createUser(collection.name, user, context);
    return withWritten(parts, collection, user.id, finishWith);
  }
  const result = await database.transaction(async (query) =>
    finishWith(query, await createUser(query, parts, collection, user, context), collection),
  );
  notifyUsersWritten(bus);
  return result;
}

interface Changing<T> {
  readonly change: UserChange;
  readonly context: RequestContext;
  /** Creates the error for a change whose condition no longer holds. */
  readonly refusal: () => AppError;
  readonly finish: FinishChange<T>;
}

/** Changes a user and runs `finish`, in the same way. Hooks run before changes of fields. */
export async function writeUserChange<T>(
  parts: Parts,
  collection: Collection,
  { change, context, refusal, finish }: Changing<T>,
): Promise<T> {
  const { database, bus, accountHooks } = parts;
  if (change.fields && isHooked(accountHooks, 'update', collection)) {
    const removed = await accountHooks.changeUser(collection.name, change, context);
    if (!removed) throw refusal();
    return withWritten(parts, collection, change.id, async (query, user, collection) => {
      if (!user) throw refusal();
      return finish(query, user, collection, removed);
    });
  }
  const result = await database.transaction(async (query) => {
    const changed = await changeUser(query, parts, collection, change, context);
    if (!changed) throw refusal();
    return finish(query, changed.user, collection, changed.removed);
  });
  notifyUsersWritten(bus);
  return result;
}

/** Continues with a user whom the other service has written, perhaps with a newer schema. */
const withWritten = <T>(
  { database, collections }: Parts,
  { name }: Collection,
  id: string,
  work: (query: Query, user: User | undefined, collection: Collection) => Promise<T>,
): Promise<T> =>
  collections.serve(name, (collection) =>
    database.transaction(async (query) => work(query, await findUserById(query, collection, id), collection)),
  );
