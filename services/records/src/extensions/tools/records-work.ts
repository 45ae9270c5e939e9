import type { Database, Query } from '@recordbus/database';
import type { Collection, RuleName } from '@recordbus/schema';
import type { RequestContext } from '@recordbus/shared/context';
import type { DeleteRules } from '../../delete/deletion.ts';
import { askingOf, type RouteDeps } from '../../routes/route-deps.ts';
import type { Asking } from '../../rules/compile-rule.ts';
import type { WritableDatabase } from '../../write/hooked-transactions.ts';
import type { BeforeHooks } from '../hooks/before-hooks.ts';
import { type ActingCaller, principalOfActing } from './acting-caller.ts';
import type { AskingCall } from './tool.ts';

/** What the records tools stand on. */
export interface RecordsToolsDeps
  extends Pick<RouteDeps, 'collections' | 'schema' | 'removals' | 'wakeRelay' | 'tellGateways'>,
    Omit<DeleteRules, 'hooks'> {
  readonly database: Pick<Database, 'read'> & WritableDatabase;
  readonly beforeHooks: BeforeHooks;
}

/** What a call of an extension wants to do with the records of a collection. */
interface Wanted {
  readonly as: ActingCaller;
  readonly collection: string;
  readonly action: RuleName;
  /** Of what is written. */
  readonly body?: Readonly<Record<string, unknown>>;
}

/** On what, of what and for whom it is done. */
export interface RecordsWork {
  readonly database: RecordsToolsDeps['database'];
  readonly collection: Collection;
  readonly context: RequestContext;
  readonly asking: Asking;
  /** With the hooks of writes that the call asks for. */
  readonly rules: DeleteRules;
}

/** As rules know them from HTTP. */
const methods: Readonly<Record<RuleName, string>> = {
  list: 'GET',
  view: 'GET',
  create: 'POST',
  update: 'PATCH',
  delete: 'DELETE',
};

/** Does what a call wants as whom it acts: as a part of the transaction that it belongs to, if it is a before hook's. */
export async function workOnRecords<T>(
  deps: RecordsToolsDeps,
  call: AskingCall,
  { as, collection: name, action, body }: Wanted,
  work: (work: RecordsWork) => Promise<T>,
): Promise<T> {
  const { schema, collections, database } = deps;
  const { transaction } = call.scope;
  const { query } = transaction ?? database;
  const principal = await principalOfActing(query, schema, call.extension, as);
  const context = { ...call.scope.context, principal };
  const rules = { ...deps, hooks: deps.beforeHooks.within(call) };
  const input = { params: { collection: name }, context, body, queryText: () => undefined, header: () => undefined };
  const asking = askingOf(methods[action], input, { schema });
  return collections.serve({ collection: name, action, principal }, (collection) =>
    transaction
      ? transaction.part((part) => work({ database: databaseOf(part.query), collection, context, asking, rules }))
      : work({ database, collection, context, asking, rules }),
  );
}

/** The same for a write, whose events are sent on afterwards. */
export async function writeRecords<T>(
  deps: RecordsToolsDeps,
  call: AskingCall,
  wanted: Wanted,
  work: (work: RecordsWork) => Promise<T>,
): Promise<T> {
  const result = await workOnRecords(deps, call, wanted, work);
  deps.wakeRelay();
  deps.removals.wake();
  if (deps.schema.findCollection(wanted.collection)?.type === 'auth') deps.tellGateways();
  return result;
}

/** Everything on the connection of one transaction. */
const databaseOf = (query: Query): RecordsToolsDeps['database'] => ({
  query,
  read: query,
  transaction: (work) => work(query),
  hookedTransaction: (work) => work(query),
});
