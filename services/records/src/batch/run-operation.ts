import { versionsOfIfMatch } from '@recordbus/http';
import type { QuerySchema } from '@recordbus/query';
import { deleteRecord } from '../delete/delete-record.ts';
import type { DeleteRules } from '../delete/deletion.ts';
import { readNewId } from '../record/record-id.ts';
import type { ServedCollections } from '../record/served-collections.ts';
import { createRecord } from '../write/create-record.ts';
import { putRecord } from '../write/put-record.ts';
import { readKey, readKeyFields } from '../write/record-key.ts';
import { type RecordPlace, updateRecord } from '../write/update-record.ts';
import { failureError } from '../write/write-failure.ts';
import type { WriteUnit } from '../write/write-unit.ts';
import type { ReadyOperation } from './ready-operation.ts';
import type { OperationResult } from './results.ts';

/** The rules and dependencies that operations need. */
export interface OperationRules extends DeleteRules {
  readonly collections: Pick<ServedCollections, 'requireAction' | 'otherAuthCollections'>;
  readonly schema: QuerySchema;
}

/** Does one operation like the single write, in its batch's transaction. Throws that write's refusals. */
export function runOperation(unit: WriteUnit, ready: ReadyOperation, rules: OperationRules): Promise<OperationResult> {
  switch (ready.operation.op) {
    case 'create':
      return ready.id === undefined ? create(unit, ready, rules) : createAt(unit, ready, ready.id, rules);
    case 'update':
      return update(unit, ready, rules);
    case 'upsert':
      return upsert(unit, ready, rules);
    case 'delete':
      return remove(unit, ready, rules);
  }
}

async function create(
  unit: WriteUnit,
  { collection, body, upload, call }: ReadyOperation,
  rules: OperationRules,
): Promise<OperationResult> {
  return { status: 201, ...(await createRecord(unit, collection, { body, upload }, call, rules)) };
}

/** A create with the client's id. Throws 412 if the record exists. */
async function createAt(
  unit: WriteUnit,
  { collection, body, upload, call }: ReadyOperation,
  id: string,
  rules: OperationRules,
): Promise<OperationResult> {
  const request = { id: readNewId(id), body, upload, versions: undefined, only: 'create' } as const;
  const { version, body: written } = await putRecord(unit, collection, request, call, rules);
  return { status: 201, body: written, version };
}

async function update(
  unit: WriteUnit,
  { collection, id = '', body, upload, call, operation }: ReadyOperation,
  rules: OperationRules,
): Promise<OperationResult> {
  const change = { id, body, upload, versions: versionsOfIfMatch(operation.ifMatch) };
  const result = await updateRecord(unit, collection, change, call, rules);
  if (result.outcome !== 'written') throw failureError(result, call);
  return { status: 200, body: result.body, version: result.version };
}

async function upsert(unit: WriteUnit, ready: ReadyOperation, rules: OperationRules): Promise<OperationResult> {
  const { collection, body, upload, call, operation } = ready;
  const versions = versionsOfIfMatch(operation.ifMatch);
  const only = operation.ifMatch === undefined ? undefined : 'change';
  const request = { ...(await placeOf(ready)), body, upload, versions, only } as const;
  const { isNew, version, body: written } = await putRecord(unit, collection, request, call, rules);
  return { status: isNew ? 201 : 200, body: written, version };
}

async function placeOf({ collection, id, body, call, operation }: ReadyOperation): Promise<RecordPlace> {
  if (id !== undefined) return { id: readNewId(id) };
  return { key: await readKey(collection, readKeyFields(collection, operation.on ?? '', call), body) };
}

async function remove(
  unit: WriteUnit,
  { collection, id = '', call, operation }: ReadyOperation,
  rules: OperationRules,
): Promise<OperationResult> {
  const result = await deleteRecord(
    unit,
    collection,
    { id, versions: versionsOfIfMatch(operation.ifMatch) },
    call,
    rules,
  );
  if (result.outcome !== 'deleted') throw failureError(result, call);
  return { status: 200, body: undefined, version: undefined };
}
