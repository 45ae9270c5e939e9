import { type BeforeUserWrite, changeUser, createUser, type NewUser, type UserChange } from '@recordbus/accounts';
import type { Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import type { Principal, RequestContext } from '@recordbus/shared/context';
import { notFound } from '@recordbus/shared/errors';
import { readStored } from '../read/read-stored.ts';
import type { RouteDeps } from '../routes/route-deps.ts';
import { composeLock } from '../write/lock-record.ts';
import { hasAccounts } from './new-account.ts';

type Deps = Pick<RouteDeps, 'database' | 'collections' | 'sealing' | 'hooks' | 'wakeRelay' | 'tellGateways'>;

/** Whether a user may be written the auth service has asked; no rule of the collection is about it. */
const principal: Principal = { type: 'admin', id: 'auth', email: '' };

/** Thrown so that a transaction is taken back. */
const unwritten = new Error('the user was not written');

/** Writes users for the auth service, each in one transaction with its before hooks: as in `AccountHooks`. */
export function createHookedUsers({ database, collections, sealing, hooks, wakeRelay, tellGateways }: Deps) {
  async function write(
    name: string,
    action: 'create' | 'update',
    work: (query: Query, collection: Collection) => Promise<unknown>,
  ): Promise<boolean> {
    try {
      await collections.serve({ collection: name, action, principal }, (collection) => {
        if (!hasAccounts(collection)) throw notFound('collection');
        const transaction = hooks.find(collection, action) ? database.hookedTransaction : database.transaction;
        return transaction(async (query) => {
          if (!(await work(query, collection))) throw unwritten;
        });
      });
    } catch (error) {
      if (error === unwritten) return false;
      throw error;
    }
    wakeRelay();
    tellGateways();
    return true;
  }

  const deps = { sealing };
  return {
    createUser: (name: string, user: NewUser, context: RequestContext): Promise<boolean> =>
      write(name, 'create', (query, collection) => {
        const run = hooks.find(collection, 'create');
        const given = new Map(Object.entries(user.given ?? {}));
        const before: BeforeUserWrite | undefined =
          run && ((body) => run({ query, collection, id: undefined, previous: undefined, body, given, context }));
        return createUser(query, deps, collection, user, context, before);
      }),
    changeUser: (name: string, change: UserChange, context: RequestContext): Promise<boolean> =>
      write(name, 'update', (query, collection) => {
        const { id } = change;
        const run = hooks.find(collection, 'update');
        const before: BeforeUserWrite | undefined =
          run &&
          (async (body) => {
            await query({ text: composeLock(collection), values: [id] });
            const previous = (await readStored(query, collection, [id], sealing)).get(id);
            return previous && run({ query, collection, id, previous, body, context });
          });
        return changeUser(query, deps, collection, change, context, before);
      }),
  };
}
