import type { Query } from '@recordbus/database';
import { malformed, notFound } from '@recordbus/shared/errors';
import { z } from 'zod';
import { deleteRecord } from '../../delete/delete-record.ts';
import { findRecord, type GetRequest } from '../../read/get-record.ts';
import { listRecords } from '../../read/list-records.ts';
import { readerFor } from '../../read/reader-for.ts';
import { isRecordId } from '../../record/record-id.ts';
import { listQuery } from '../../routes/list.ts';
import { refuseUnwritten } from '../../routes/refuse-unwritten.ts';
import { createRecord } from '../../write/create-record.ts';
import { composeLock } from '../../write/lock-record.ts';
import { updateRecord } from '../../write/update-record.ts';
import { actingCaller } from './acting-caller.ts';
import { type RecordsToolsDeps, type RecordsWork, workOnRecords, writeRecords } from './records-work.ts';
import { type Tool, tool } from './tool.ts';

const name = z.string();
const values = z.string().transform((text): Record<string, unknown> => {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformed('values must be an object');
  return { ...value };
});
const scalars = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.undefined()]));

/** The records API for code of extensions: the same functions as behind HTTP, and the same hooks. */
export const recordsTools = (deps: RecordsToolsDeps): Readonly<Record<string, Tool>> => ({
  'records.list': tool(z.tuple([actingCaller, name, scalars]), (call, [as, collection, options]) => {
    const query = readListOptions(options);
    return workOnRecords(deps, call, { as, collection, action: 'list' }, (work) =>
      listRecords(work.database, work.collection, query, work.asking, deps.sealing),
    );
  }),

  'records.get': tool(z.tuple([actingCaller, name, z.string(), scalars]), (call, [as, collection, id, options]) =>
    workOnRecords(deps, call, { as, collection, action: 'view' }, (work) =>
      getBody(work, readerFor(work.collection, work.database), {
        id,
        fields: textOf(options.fields),
        expand: textOf(options.expand),
      }),
    ),
  ),

  'records.lock': tool(z.tuple([actingCaller, name, z.string()]), (call, [as, collection, id]) =>
    workOnRecords(deps, call, { as, collection, action: 'view' }, async (work) => {
      if (!call.scope.transaction) throw malformed('only a before hook can lock a record');
      if (!isRecordId(id)) throw notFound('record');
      const { query } = work.database;
      await query({ text: composeLock(work.collection), values: [id] });
      return getBody(work, query, { id });
    }),
  ),

  'records.create': tool(z.tuple([actingCaller, name, values]), (call, [as, collection, body]) =>
    writeRecords(deps, call, { as, collection, action: 'create', body }, async (work) => {
      const { context, asking, rules } = work;
      const written = await write(work, 'create', (query) =>
        createRecord(query, work.collection, body, context, asking, rules),
      );
      return written.body;
    }),
  ),

  'records.update': tool(z.tuple([actingCaller, name, z.string(), values]), (call, [as, collection, id, body]) =>
    writeRecords(deps, call, { as, collection, action: 'update', body }, async (work) => {
      const { context, asking, rules } = work;
      const change = { id, body, versions: undefined };
      const result = await write(work, 'update', (query) =>
        updateRecord(query, work.collection, change, context, asking, rules),
      );
      if (result.outcome !== 'written') throw refuseUnwritten(result, context.principal);
      return result.body;
    }),
  ),

  'records.delete': tool(z.tuple([actingCaller, name, z.string()]), (call, [as, collection, id]) =>
    writeRecords(deps, call, { as, collection, action: 'delete' }, async (work) => {
      const { database, context, asking, rules } = work;
      const removal = { id, versions: undefined };
      const result = await deleteRecord(database, work.collection, removal, context, asking, rules);
      if (result.outcome !== 'deleted') throw refuseUnwritten(result, context.principal);
      return '{"data":null}';
    }),
  ),
});

/** One statement, or a transaction with what stands before it. */
const write = <T>(
  { database, collection, rules }: RecordsWork,
  operation: 'create' | 'update',
  work: (query: Query) => Promise<T>,
): Promise<T> => (rules.hooks.find(collection, operation) ? database.hookedTransaction(work) : work(database.query));

async function getBody({ collection, asking, rules }: RecordsWork, query: Query, wanted: GetRequest): Promise<string> {
  const found = await findRecord(query, collection, wanted, asking, rules.sealing);
  if (!found) throw notFound('record');
  return found.body;
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
