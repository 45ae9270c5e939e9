import {
  type BeforeUserWrite,
  changeUser,
  createUser,
  hasAccounts,
  type NewUser,
  type UserChange,
} from '@recordbus/accounts';
import { notFound } from '@recordbus/errors';
import type { QuerySchema } from '@recordbus/query';
import type { Principal, RequestContext } from '@recordbus/request/context';
import type { Collection, FieldEncryption } from '@recordbus/schema';
import { readStored } from '../read/read-stored.ts';
import type { ServedCollections } from '../record/served-collections.ts';
import { addChangeWork } from '../write/after-commit.ts';
import { lockRow } from '../write/lock-record.ts';
import { modeOf, type WriteHooks } from '../write/write-hooks.ts';
import { widestMode } from '../write/write-mode.ts';
import type { RunWrite, WriteUnit } from '../write/write-unit.ts';

interface UserWriterDeps {
  readonly write: RunWrite;
  readonly collections: ServedCollections;
  readonly schema: QuerySchema;
  readonly encryption: FieldEncryption;
  readonly hooks: WriteHooks;
}

/** The auth service has checked who may write the user; the collection's rules do not apply. */
const principal: Principal = { type: 'admin', id: 'auth', email: '' };

/** Thrown to roll back a transaction. */
const nothingWritten = new Error('the user was not written');

/** Creates the part of `AccountHooks` that writes users, each in one transaction with its before hooks. */
export function createUserWriter({ write, collections, schema, encryption, hooks }: UserWriterDeps) {
  /** Returns undefined, and writes nothing, when the work returns undefined. */
  async function writeUser<T extends object>(
    name: string,
    operation: 'create' | 'update',
    work: (unit: WriteUnit, collection: Collection) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    try {
      return await collections.serve({ collection: name, action: operation, principal }, (collection) => {
        if (!hasAccounts(collection)) throw notFound('collection');
        const mode = widestMode('transaction', modeOf(hooks, collection, operation));
        return write({ mode }, async (unit) => {
          const result = await work(unit, collection);
          if (!result) throw nothingWritten;
          addChangeWork(unit, collection);
          return result;
        });
      });
    } catch (error) {
      if (error === nothingWritten) return undefined;
      throw error;
    }
  }

  const deps = { encryption, schema };
  return {
    async createUser(name: string, user: NewUser, context: RequestContext): Promise<boolean> {
      const created = await writeUser(name, 'create', (unit, collection) => {
        const run = hooks.find(collection, 'create');
        const given = new Map(Object.entries(user.given ?? {}));
        const before: BeforeUserWrite | undefined =
          run && ((body) => run({ unit, collection, id: undefined, previous: undefined, body, given, context }));
        return createUser(unit.query, deps, collection, user, context, before);
      });
      return created !== undefined;
    },
    async changeUser(name: string, change: UserChange, context: RequestContext) {
      const changed = await writeUser(name, 'update', (unit, collection) => {
        const { query } = unit;
        const { id } = change;
        const run = hooks.find(collection, 'update');
        const before: BeforeUserWrite | undefined =
          run &&
          (async (body) => {
            await lockRow(query, collection, id);
            const previous = (await readStored(query, collection, [id], encryption)).get(id);
            return previous && run({ unit, collection, id, previous, body, context });
          });
        return changeUser(query, deps, collection, change, context, before);
      });
      return changed?.removed;
    },
  };
}
