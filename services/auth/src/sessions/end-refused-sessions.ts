import { compileSignInRule, hasSignInRule } from '@recordbus/accounts';
import type { Bus } from '@recordbus/bus';
import type { Database, Query } from '@recordbus/database';
import { type BackgroundTask, every } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import { createParameters, findSources, type QuerySchema } from '@recordbus/query';
import { type Collection, type CollectionCache, tableOf } from '@recordbus/schema';

/** Sessions end within a second: this, one check, and the gateways' poll of the revocations. */
const intervalMs = 300;

/** How many noted accounts one round takes. */
const maxNoted = 10_000;

interface Deps {
  readonly database: Database;
  readonly cache: Pick<CollectionCache, 'all' | 'reload'>;
  readonly schema: QuerySchema;
  readonly bus: Pick<Bus, 'notify'>;
  readonly log: Logger;
}

/** A note that an account, or with null every account of a collection, must be checked again. */
interface Noted {
  readonly collectionId: string;
  readonly accountId: string | null;
}

/**
 * Creates the task that ends the sessions of accounts which `sign_in_rule` no longer admits (auth §4.5). Triggers note
 * the accounts, and each note is taken by one replica. Without such rules a round runs no statement.
 */
export function createRefusedSessionsTask({ database, cache, schema, bus, log }: Deps): BackgroundTask {
  const ruled = () => cache.all().filter(hasSignInRule);
  const isTimed = (collection: Collection) => readsMore(collection, cache.all());

  async function round(): Promise<void> {
    const timed = ruled().filter(isTimed);
    const hasNotes = await anyNoted(database.query);
    if (!hasNotes && timed.length === 0) return;
    const ended = await database.transaction(async (query) => {
      const notes = hasNotes ? await takeNotes(query) : [];
      // A note about all accounts may be about a rule that this process does not know yet.
      if (notes.some(({ accountId }) => accountId === null)) await cache.reload();
      let count = 0;
      for (const collection of ruled()) {
        const mine = notes.filter(({ collectionId }) => collectionId === collection.id);
        const isWhole =
          timed.some(({ id }) => id === collection.id) || mine.some(({ accountId }) => accountId === null);
        const accountIds = isWhole ? null : mine.flatMap(({ accountId }) => accountId ?? []);
        if (accountIds?.length !== 0) count += await endRefused(query, schema, collection, accountIds);
      }
      return count;
    });
    if (ended > 0) bus.notify('accounts');
  }

  return every({
    name: 'end sessions that sign_in_rule refuses',
    log,
    intervalMs,
    async run() {
      if (ruled().length === 0) return;
      try {
        await round();
      } catch (error) {
        // The collection may have other fields by now.
        await cache.reload().catch(() => {});
        throw error;
      }
    },
  });
}

/** Whether the rule's result may change without a write that a trigger sees: with the time, or within a view. */
function readsMore(collection: Collection, collections: readonly Collection[]): boolean {
  const rule = collection.rules.sign_in;
  if (!rule) return false;
  const findCollection = (name: string) => collections.find((other) => other.name === name);
  const sources = findSources(rule, { collection, schema: { findCollection }, accounts: [] });
  return sources.readsTime || sources.collections.some(({ type }) => type === 'view');
}

async function anyNoted(query: Query): Promise<boolean> {
  const rows = await query({
    name: 'sign-in checks due',
    text: 'select from system.sign_in_checks where due_at <= now() limit 1',
    values: [],
  });
  return rows.length > 0;
}

const takeNotes = (query: Query): Promise<Noted[]> =>
  query<Noted>({
    text: `delete from system.sign_in_checks where id in (
        select id from system.sign_in_checks where due_at <= now() order by id limit ${maxNoted} for update skip locked
      ) returning collection_id as "collectionId", account_id as "accountId"`,
    values: [],
  });

/**
 * Ends the tokens of the accounts with sessions that the rule refuses: a new token version ends its sessions and pending
 * links (`system.account_changed`), and they stay ended. Returns how many accounts it were.
 */
async function endRefused(
  query: Query,
  schema: QuerySchema,
  collection: Collection,
  accountIds: readonly string[] | null,
): Promise<number> {
  const parameters = createParameters();
  const collectionId = parameters.fixed(collection.id, 'text');
  const noted = accountIds ? ` and account_id = any(${parameters.fixed(accountIds, 'text[]')})` : '';
  const condition = compileSignInRule(collection, schema, { row: 't', parameters });
  const table = tableOf(collection);
  const rows = await query({
    text: `with refused as materialized (
        select t.id from ${table} t where not (${condition}) and t.id in (
          select account_id from system.sessions
          where collection_id = ${collectionId}${noted})
      ) update ${table} a set token_version = a.token_version + 1 from refused where a.id = refused.id returning 1`,
    values: parameters.values(),
  });
  return rows.length;
}
