import { malformed, malformedParameter, notFound } from '@recordbus/errors';
import { describeIssues } from '@recordbus/errors/describe-issues';
import { z } from 'zod';
import { isRelaxedDelete, modeOfCallersDelete } from '../../delete/delete-mode.ts';
import { deleteRecord } from '../../delete/delete-record.ts';
import { findRecord, type GetRequest } from '../../read/get-record.ts';
import { listPage } from '../../read/list-page.ts';
import { listQuery } from '../../read/list-query.ts';
import { isRecordId } from '../../record/record-id.ts';
import { createRecord } from '../../write/create-record.ts';
import { isRelaxed } from '../../write/is-relaxed.ts';
import { lockRow } from '../../write/lock-record.ts';
import { modeOfUpdate } from '../../write/prepare-update.ts';
import { updateRecord } from '../../write/update-record.ts';
import { failureError } from '../../write/write-failure.ts';
import { modeOf } from '../../write/write-hooks.ts';
import type { WriteMode } from '../../write/write-mode.ts';
import { actingCaller } from './acting-caller.ts';
import { type RecordsToolsDeps, type RecordsWork, workOnRecords } from './records-work.ts';
import { type Tool, tool } from './tool.ts';
import { name, values } from './tool-arguments.ts';

const scalars = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.undefined()]));

/** The records API for extensions' code, with the same functions and hooks as behind HTTP. */
export const recordsTools = (deps: RecordsToolsDeps): Readonly<Record<string, Tool>> => ({
  'records.list': tool(z.tuple([actingCaller, name, scalars]), (call, [as, collection, options]) => {
    const query = readListOptions(options);
    return workOnRecords(deps, call, { as, collection, action: 'list' }, (work) =>
      listPage(work.reads, work.collection, query, work.call, deps.encryption),
    );
  }),

  'records.get': tool(z.tuple([actingCaller, name, z.string(), scalars]), (call, [as, collection, id, options]) =>
    workOnRecords(deps, call, { as, collection, action: 'view' }, (work) =>
      getBody(work, { id, fields: textOf(options.fields), expand: textOf(options.expand) }),
    ),
  ),

  'records.lock': tool(z.tuple([actingCaller, name, z.string()]), (call, [as, collection, id]) =>
    workOnRecords(deps, call, { as, collection, action: 'view' }, async (work) => {
      if (!call.scope.transaction) throw malformed('only a before hook or a transaction can lock a record');
      if (!isRecordId(id)) throw notFound('record');
      await lockRow(work.query, work.collection, id);
      return getBody(work, { id });
    }),
  ),

  'records.create': tool(z.tuple([actingCaller, name, values]), (call, [as, collection, body]) =>
    workOnRecords(deps, call, { as, collection, action: 'create', body }, (work) =>
      work.write(optionsOf(work, modeOf(work.rules.hooks, work.collection, 'create')), async (unit) => {
        const written = await createRecord(unit, work.collection, { body }, work.call, work.rules);
        return written.body;
      }),
    ),
  ),

  'records.update': tool(z.tuple([actingCaller, name, z.string(), values]), (call, [as, collection, id, body]) =>
    workOnRecords(deps, call, { as, collection, action: 'update', body }, (work) =>
      work.write(optionsOf(work, modeOfUpdate(work.rules.hooks, work.collection, work.call)), async (unit) => {
        const change = { id, body, versions: undefined };
        const result = await updateRecord(unit, work.collection, change, work.call, work.rules);
        if (result.outcome !== 'written') throw failureError(result, work.call);
        return result.body;
      }),
    ),
  ),

  'records.delete': tool(z.tuple([actingCaller, name, z.string()]), (call, [as, collection, id]) =>
    workOnRecords(deps, call, { as, collection, action: 'delete' }, (work) =>
      work.write(deleteOptionsOf(work, id), async (unit) => {
        const request = { id, versions: undefined };
        const result = await deleteRecord(unit, work.collection, request, work.call, work.rules);
        if (result.outcome !== 'deleted') throw failureError(result, work.call);
        return '{"data":null}';
      }),
    ),
  ),
});

async function getBody({ reads, collection, call, rules }: RecordsWork, request: GetRequest): Promise<string> {
  const found = await findRecord(reads, collection, request, call, rules.encryption);
  if (!found) throw notFound('record');
  return found.body;
}

function readListOptions(options: z.output<typeof scalars>): z.output<typeof listQuery> {
  const texts = Object.entries(options).flatMap(([key, value]) => (value === undefined ? [] : [[key, String(value)]]));
  const result = listQuery.safeParse(Object.fromEntries(texts));
  if (result.success) return result.data;
  const [[name, message] = ['options', 'are not valid']] = Object.entries(describeIssues(result.error));
  throw malformedParameter(name, message);
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value : undefined;

const optionsOf = ({ collection }: RecordsWork, mode: WriteMode) => ({ mode, isRelaxed: isRelaxed(collection) });

const deleteOptionsOf = ({ collection, call, rules }: RecordsWork, id: string) => ({
  mode: modeOfCallersDelete({ collection, id }, call, rules),
  isRelaxed: isRelaxedDelete(collection, rules),
});
