import { payloadTooLarge } from '@recordbus/errors';
import type { RouteInput } from '@recordbus/http';
import type { QuerySchema } from '@recordbus/query';
import { withFiles } from '../files/file-changes.ts';
import { type Call, callOf } from '../rules/rule-context.ts';
import type { GivenBytes } from './given-bytes.ts';
import { maxOperationBytes } from './parse-operations.ts';
import type { BatchPlan, PlannedOperation } from './plan-batch.ts';
import { maxBatchBytes } from './receive-batch.ts';
import { type Reference, replaceReferences } from './reference.ts';
import type { Results } from './results.ts';

/** A batch's request, as rules see it. */
export type BatchInput = Pick<RouteInput<unknown, unknown, unknown>, 'context' | 'queryText' | 'header'>;

/** An operation whose references are replaced by values. */
export interface ReadyOperation extends PlannedOperation {
  readonly id: string | undefined;
  /** With uploaded files' names. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly call: Call;
  /** Its JSON text's size, with its references' values. */
  readonly bytes: number;
}

/**
 * Replaces an operation's references. Throws 422 if a result lacks a value, and 413 if the operation, or the batch up
 * to it, is too large with these values (batch §1.2).
 */
export function readyOperation(
  planned: PlannedOperation,
  { id: batchId, size, names }: BatchPlan,
  { results, given }: { readonly results: Results; readonly given: GivenBytes },
  input: BatchInput,
  deps: { readonly schema: QuerySchema },
): ReadyOperation {
  const { index, operation, collection, upload, uses } = planned;
  let { bytes } = operation;
  const resultOf = (reference: Reference, member: string) => {
    const { value, bytes: more } = results.valueOf(reference, names.get(reference.name) ?? 0, { index, member });
    bytes += more;
    if (bytes > maxOperationBytes) throw tooLarge(maxOperationBytes, 'an operation');
    return value;
  };
  const data = uses.size === 0 ? operation.data : replaceReferences(collection, operation.data, resultOf);
  const body = withFiles(collection, data, upload);
  const id = typeof operation.id === 'object' ? String(resultOf(operation.id, 'id')) : operation.id;
  if (uses.size > 0 && given.add(index, bytes) > maxBatchBytes) throw tooLarge(maxBatchBytes, 'a batch');
  const context = { ...input.context, batch: { id: batchId, index, size } };
  const hasBody = operation.op !== 'delete';
  const call = callOf(methodOf(operation), { ...input, context, body: hasBody ? body : undefined }, deps);
  return { ...planned, id, body, call, bytes };
}

const tooLarge = (limitBytes: number, what: string) =>
  payloadTooLarge(limitBytes, `${what} with its references' values`);

/** The single write's HTTP method, as rules see it. */
function methodOf({ op, id }: PlannedOperation['operation']): string {
  switch (op) {
    case 'create':
      return id === undefined ? 'POST' : 'PUT';
    case 'update':
      return 'PATCH';
    case 'upsert':
      return 'PUT';
    case 'delete':
      return 'DELETE';
  }
}
