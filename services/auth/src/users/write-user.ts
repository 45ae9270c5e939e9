import {
  type AccountHooks,
  changeUser,
  createUser,
  findUserById,
  isHooked,
  type NewUser,
  type User,
  type UserChange,
} from '@recordbus/accounts';
import type { Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import type { RequestContext } from '@recordbus/shared/context';
import { type AppError, notFound } from '@recordbus/shared/errors';
import { type AuthParts, tellOfWrittenUsers } from '../auth-parts.ts';

type Parts = Pick<AuthParts, 'database' | 'bus' | 'sealing' | 'collections'> & { readonly accountHooks: AccountHooks };

/** What belongs to the write of a user, in its transaction, or in one behind it where the write has hooks. */
type Finish<T> = (query: Query, user: User, collection: Collection) => Promise<T>;

interface Making<T> {
  readonly user: NewUser;
  readonly context: RequestContext;
  /** For a user with a link: who has it instead. */
  readonly findOther?: (query: Query, collection: Collection) => Promise<User | undefined>;
  readonly finish: Finish<T>;
}

/**
 * Makes a user and does what belongs to that, in one transaction. Where the collection has hooks for it, the user is made
 * by the service that runs these, in one transaction with what they write, and the rest follows in another one. Throws
 * what `createUser` throws, and what a hook refuses with.
 */
export async function makeUser<T>(
  parts: Parts,
  collection: Collection,
  { user, context, findOther, finish }: Making<T>,
): Promise<T> {
  const { database, bus, accountHooks } = parts;
  const finishWith = async (query: Query, made: User | undefined, collection: Collection) => {
    const found = made ?? (await findOther?.(query, collection));
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
  tellOfWrittenUsers(bus);
  return result;
}

interface Changing<T> {
  readonly change: UserChange;
  readonly context: RequestContext;
  /** What is thrown when the change can't be made any more. */
  readonly refusal: () => AppError;
  readonly finish: Finish<T>;
}

/** Changes a user and does what belongs to that, in the same way; hooks stand before changes of fields. */
export async function makeChange<T>(
  parts: Parts,
  collection: Collection,
  { change, context, refusal, finish }: Changing<T>,
): Promise<T> {
  const { database, bus, accountHooks } = parts;
  const finishWith = async (query: Query, user: User | undefined, collection: Collection) => {
    if (!user) throw refusal();
    return finish(query, user, collection);
  };
  if (change.fields && isHooked(accountHooks, 'update', collection)) {
    if (!(await accountHooks.changeUser(collection.name, change, context))) throw refusal();
    return withWritten(parts, collection, change.id, finishWith);
  }
  const result = await database.transaction(async (query) =>
    finishWith(query, await changeUser(query, parts, collection, change, context), collection),
  );
  tellOfWrittenUsers(bus);
  return result;
}

/** Goes on with a user whom the other service has written and told of; it may know a newer schema. */
const withWritten = <T>(
  { database, collections }: Parts,
  { name }: Collection,
  id: string,
  work: (query: Query, user: User | undefined, collection: Collection) => Promise<T>,
): Promise<T> =>
  collections.serve(name, (collection) =>
    database.transaction(async (query) => work(query, await findUserById(query, collection, id), collection)),
  );
