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
import { type AppError, notFound } from '@recordbus/errors';
import type { RequestContext } from '@recordbus/request/context';
import type { Collection } from '@recordbus/schema';
import type { AuthParts } from '../auth-parts.ts';
import { type AuthUnit, runInUnit } from '../auth-unit.ts';

type Parts = Pick<AuthParts, 'database' | 'bus' | 'encryption' | 'collections' | 'schema'> & {
  readonly accountHooks: AccountHooks;
};

/** Completes a write to a user: in the same unit of work, or in a later one if the write has hooks. */
type Finish<T> = (unit: AuthUnit, user: User, collection: Collection) => Promise<T>;

/** The same for a change. `removed` names the ways in that the change removed. */
type FinishChange<T> = (
  unit: AuthUnit,
  user: User,
  collection: Collection,
  removed: readonly Removable[],
) => Promise<T>;

interface Making<T> {
  readonly user: NewUser;
  readonly context: RequestContext;
  /** For a user with a link: finds the user who already has the link. */
  readonly findOther?: (query: Query, collection: Collection) => Promise<User | undefined>;
  readonly finish: Finish<T>;
}

/**
 * Creates a user and runs `finish`, in one unit of work. For a collection with create hooks, the records service
 * creates the user in one transaction with the hooks' writes, and `finish` runs in another one (extensions §3.3).
 * Throws the errors of `createUser` and hooks' refusals.
 */
export async function writeNewUser<T>(
  parts: Parts,
  collection: Collection,
  { user, context, findOther, finish }: Making<T>,
): Promise<T> {
  const { accountHooks } = parts;
  const finishWith = async (unit: AuthUnit, written: User | undefined, collection: Collection) => {
    const found = written ?? (await findOther?.(unit.query, collection));
    if (!found) throw notFound('user');
    return finish(unit, found, collection);
  };
  if (isHooked(accountHooks, 'create', collection)) {
    await accountHooks.createUser(collection.name, user, context);
    return withWritten(parts, collection, user.id, finishWith);
  }
  return runInUnit(parts, async (unit) => {
    const created = await createUser(unit.query, parts, collection, user, context);
    noteWritten(unit);
    return finishWith(unit, created, collection);
  });
}

interface Changing<T> {
  readonly change: UserChange;
  readonly context: RequestContext;
  /** Creates the error for a change whose condition no longer holds. */
  readonly refusal: () => AppError;
  readonly finish: FinishChange<T>;
}

/** Changes a user and runs `finish`, in the same way. Hooks run before field changes. */
export async function writeUserChange<T>(
  parts: Parts,
  collection: Collection,
  { change, context, refusal, finish }: Changing<T>,
): Promise<T> {
  const { accountHooks } = parts;
  if (change.fields && isHooked(accountHooks, 'update', collection)) {
    const removed = await accountHooks.changeUser(collection.name, change, context);
    if (!removed) throw refusal();
    return withWritten(parts, collection, change.id, async (unit, user, collection) => {
      if (!user) throw refusal();
      return finish(unit, user, collection, removed);
    });
  }
  return runInUnit(parts, async (unit) => {
    const changed = await changeUser(unit.query, parts, collection, change, context);
    if (!changed) throw refusal();
    noteWritten(unit);
    return finish(unit, changed.user, collection, changed.removed);
  });
}

/** Adds the work that follows a write to a user: it has an event, and tokens may have ended. */
function noteWritten({ due }: AuthUnit): void {
  due.add('wakeRelay').add('notifyGateways');
}

/** Continues with a user whom the other service has written, perhaps with a newer schema. */
const withWritten = <T>(
  parts: Parts,
  { name }: Collection,
  id: string,
  work: (unit: AuthUnit, user: User | undefined, collection: Collection) => Promise<T>,
): Promise<T> =>
  parts.collections.serve(name, (collection) =>
    runInUnit(parts, async (unit) => work(unit, await findUserById(unit.query, collection, id), collection)),
  );
