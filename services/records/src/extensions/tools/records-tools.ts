import type { Database, Query } from '@recordbus/database';
import { type Collection, quoteIdentifier, tableOf } from '@recordbus/schema';
import type { Principal, RequestContext } from '@recordbus/shared/context';
import { malformed, notFound } from '@recordbus/shared/errors';
import { z } from 'zod';
import { deleteRecord } from '../../delete/delete-record.ts';
import { composeLock } from '../../delete/delete-sql.ts';
import { findRecord } from '../../read/get-record.ts';
import { listRecords } from '../../read/list-records.ts';
import { readerFor } from '../../read/reader-for.ts';
import { isRecordId } from '../../record/record-id.ts';
import { listQuery } from '../../routes/list.ts';
import { refuseUnwritten } from '../../routes/refuse-unwritten.ts';
import { askingOf, type RouteDeps } from '../../routes/route-deps.ts';
import { createRecord } from '../../write/create-record.ts';
import { updateRecord } from '../../write/update-record.ts';
import type { Operation } from '../../write/write-hooks.ts';
import { principalOfExtension, scopeWithin } from '../call-scope.ts';
import type { BeforeHooks } from '../hooks/before-hooks.ts';
import { type AskingCall, type Tool, tool } from './tool.ts';

/** A caller as extensions name them; of users only who they are counts, the rest is read. */
const caller = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('guest') }),
    z.object({ type: z.literal('user'), collection: z.string(), id: z.string() }),
    z.object({ type: z.literal('admin'), id: z.string(), email: z.string().default('') }),
  ])
  .optional();
type Caller = z.output<typeof caller>;

const name = z.string();
const values = z.string().transform((text): Record<string, unknown> => {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformed('values must be an object');
  return { ...value };
});
const scalars = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.undefined()]));

type RecordsToolsDeps = Pick<
  RouteDeps,
  | 'database'
  | 'hookedTransaction'
  | 'collections'
  | 'schema'
  | 'findReferrers'
  | 'removals'
  | 'wakeRelay'
  | 'tellGateways'
  | 'guessLimit'
  | 'passwords'
  | 'sealing'
> & { readonly beforeHooks: BeforeHooks };

type Executor = Pick<Database, 'query' | 'read' | 'transaction'>;

/** On what, of what and for whom something is done. */
interface Reading {
  readonly executor: Executor;
  readonly collection: Collection;
  readonly context: RequestContext;
}

/** The records API for code of extensions: the same functions as behind HTTP, and the same hooks. */
export function recordsTools(deps: RecordsToolsDeps): Readonly<Record<string, Tool>> {
  const { database, collections, schema, findReferrers, sealing } = deps;

  const contextOf = async ({ extension, scope }: AskingCall, as: Caller, query: Query): Promise<RequestContext> => ({
    ...scope.context,
    principal: await principalOf(as, extension, query),
  });

  async function principalOf(as: Caller, extension: string, query: Query): Promise<Principal> {
    if (as === undefined) return principalOfExtension(extension);
    if (as.type === 'guest') return { type: 'guest', rejectedToken: false };
    if (as.type === 'admin') return as;
    const collection = schema.findCollection(as.collection);
    if (collection?.type !== 'auth') throw notFound('auth collection');
    const [user] = await query<{ email: string; anonymous: boolean }>({
      text: `select email, is_anonymous as anonymous from ${tableOf(collection)} where ${quoteIdentifier('id')} = $1`,
      values: [as.id],
    });
    if (!user) throw notFound('user');
    return { ...as, ...user, impersonatedBy: null };
  }

  const askingFor = (method: string, context: RequestContext, collection: string, body?: Record<string, unknown>) =>
    askingOf(method, { params: { collection }, context, body, queryText: () => undefined, header: () => undefined }, {
      schema,
    } as RouteDeps);

  /** A read, in the transaction that the call belongs to if it is one's. */
  async function read<T>(
    call: AskingCall,
    as: Caller,
    target: { readonly collection: string; readonly action: 'list' | 'view' },
    work: (reading: Reading) => Promise<T>,
  ): Promise<T> {
    const { transaction } = call.scope;
    const context = await contextOf(call, as, transaction?.query ?? database.query);
    return collections.serve({ ...target, principal: context.principal }, (collection) =>
      transaction
        ? transaction.part(({ query }) => work({ executor: executorOf(query), collection, context }))
        : work({ executor: database, collection, context }),
    );
  }

  /** A write with its hooks: in a transaction of its own, or as a part of the one that the call belongs to. */
  async function write<T>(
    call: AskingCall,
    as: Caller,
    target: {
      readonly collection: string;
      readonly operation: Operation;
      readonly id?: string;
      readonly body: Record<string, unknown>;
    },
    work: (writing: Reading & { readonly body: Readonly<Record<string, unknown>> }) => Promise<T>,
  ): Promise<T> {
    const { operation, id, body } = target;
    const { transaction } = call.scope;
    const context = await contextOf(call, as, transaction?.query ?? database.query);
    const request = { collection: target.collection, action: operation, principal: context.principal };
    const result = await collections.serve(request, (collection) => {
      const before = deps.beforeHooks.find(collection, operation);
      const run = async (executor: Executor, scope = call.scope): Promise<T> => {
        if (!before) return work({ executor, collection, body, context });
        const asking = askingFor(operation, context, collection.name, body);
        const pending = { query: executor.query, collection, id, body, versions: undefined, context, asking };
        const ready = await before(pending, scopeWithin(scope, call.extension, call.worker));
        if (ready.outcome !== 'ready') throw refuseUnwritten(ready, context.principal);
        return work({ executor, collection, body: ready.body, context });
      };
      if (transaction)
        return transaction.part((part) => run(executorOf(part.query), { ...call.scope, transaction: part }));
      return before ? deps.hookedTransaction((query) => run(executorOf(query))) : run(database);
    });
    deps.wakeRelay();
    deps.removals.wake();
    if (schema.findCollection(target.collection)?.type === 'auth') deps.tellGateways();
    return result;
  }

  return {
    'records.list': tool(z.tuple([caller, name, scalars]), (call, [as, collection, options]) => {
      const query = readListOptions(options);
      return read(call, as, { collection, action: 'list' }, (reading) =>
        listRecords(
          reading.executor,
          reading.collection,
          query,
          askingFor('GET', reading.context, collection),
          sealing,
        ),
      );
    }),
    'records.get': tool(z.tuple([caller, name, z.string(), scalars]), (call, [as, collection, id, options]) =>
      read(call, as, { collection, action: 'view' }, async (reading) => {
        const wanted = { id, fields: textOf(options.fields), expand: textOf(options.expand) };
        const asking = askingFor('GET', reading.context, collection);
        const found = await findRecord(
          readerFor(reading.collection, reading.executor),
          reading.collection,
          wanted,
          asking,
          sealing,
        );
        if (!found) throw notFound('record');
        return found.body;
      }),
    ),
    'records.lock': tool(z.tuple([caller, name, z.string()]), (call, [as, collection, id]) =>
      read(call, as, { collection, action: 'view' }, async (reading) => {
        if (!call.scope.transaction) throw malformed('only a before hook can lock a record');
        if (!isRecordId(id)) throw notFound('record');
        const { query } = reading.executor;
        await query({ text: composeLock(reading.collection), values: [id] });
        const found = await findRecord(
          query,
          reading.collection,
          { id },
          askingFor('GET', reading.context, collection),
          sealing,
        );
        if (!found) throw notFound('record');
        return found.body;
      }),
    ),
    'records.create': tool(z.tuple([caller, name, values]), (call, [as, collection, body]) =>
      write(call, as, { collection, operation: 'create', body }, async (writing) => {
        const { executor, context } = writing;
        const asking = askingFor('POST', context, collection, body);
        return (await createRecord(executor.query, writing.collection, writing.body, context, asking, deps)).body;
      }),
    ),
    'records.update': tool(z.tuple([caller, name, z.string(), values]), (call, [as, collection, id, body]) =>
      write(call, as, { collection, operation: 'update', id, body }, async (writing) => {
        const { executor, context } = writing;
        const asking = askingFor('PATCH', context, collection, body);
        const change = { id, body: writing.body, versions: undefined };
        const result = await updateRecord(executor.query, writing.collection, change, context, asking, deps);
        if (result.outcome !== 'written') throw refuseUnwritten(result, context.principal);
        return result.body;
      }),
    ),
    'records.delete': tool(z.tuple([caller, name, z.string()]), (call, [as, collection, id]) =>
      write(call, as, { collection, operation: 'delete', id, body: {} }, async (writing) => {
        const { executor, context } = writing;
        const asking = askingFor('DELETE', context, collection);
        const removal = { id, versions: undefined };
        const result = await deleteRecord(executor, writing.collection, removal, context, asking, findReferrers);
        if (result.outcome !== 'deleted') throw refuseUnwritten(result, context.principal);
        return '{"data":null}';
      }),
    ),
  };
}

function readListOptions(options: z.output<typeof scalars>): z.output<typeof listQuery> {
  const texts = Object.entries(options).flatMap(([key, value]) => (value === undefined ? [] : [[key, String(value)]]));
  const result = listQuery.safeParse(Object.fromEntries(texts));
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw malformed(`${issue?.path.join('.')}: ${issue?.message}`);
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value : undefined;

/** Everything on the connection of one transaction. */
const executorOf = (query: Query): Executor => ({ query, read: query, transaction: (work) => work(query) });
