import type { QuerySchema } from '@recordbus/query';
import type { RouteInput } from '@recordbus/shared/http';
import { withFiles } from '../files/file-changes.ts';
import { type Call, callOf } from '../rules/rule-context.ts';
import type { BatchPlan, PlannedOperation } from './plan-batch.ts';
import { type Reference, replaceReferences } from './reference.ts';
import type { Results } from './results.ts';

/** The request of a batch, as rules see it. */
export type BatchInput = Pick<RouteInput<unknown, unknown, unknown>, 'context' | 'queryText' | 'header'>;

/** An operation whose references are replaced by values. */
export interface ReadyOperation extends PlannedOperation {
  readonly id: string | undefined;
  /** With the names of uploaded files. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly call: Call;
}

/** Replaces the references of an operation. Throws 422 if a result lacks a value. */
export function readyOperation(
  planned: PlannedOperation,
  { id: batchId, size, names }: BatchPlan,
  results: Results,
  input: BatchInput,
  deps: { readonly schema: QuerySchema },
): ReadyOperation {
  const { index, operation, collection, upload, uses } = planned;
  const resultOf = (reference: Reference, member: string) =>
    results.valueOf(reference, names.get(reference.name) ?? 0, { index, member });
  const data = uses.size === 0 ? operation.data : replaceReferences(collection, operation.data, resultOf);
  const body = withFiles(collection, data, upload);
  const id = typeof operation.id === 'object' ? String(resultOf(operation.id, 'id')) : operation.id;
  const context = { ...input.context, batch: { id: batchId, index, size } };
  const hasBody = operation.op !== 'delete';
  const call = callOf(methodOf(operation), { ...input, context, body: hasBody ? body : undefined }, deps);
  return { ...planned, id, body, call };
}

/** The HTTP method of the single write, as rules see it. */
function methodOf({ op, id }: PlannedOperation['operation']): string {
  if (op === 'create') return id === undefined ? 'POST' : 'PUT';
  return op === 'update' ? 'PATCH' : op === 'upsert' ? 'PUT' : 'DELETE';
}
