import { AppError, malformed, payloadTooLarge, validationFailed } from '@recordbus/shared/errors';
import { findJsonExcess } from '@recordbus/shared/http';
import { startSlice } from '@recordbus/shared/time-slice';
import { operationRefused, refusalAt } from './batch-refusal.ts';
import { splitElements } from './split-elements.ts';

/** The largest operation: that of the body of a single write. */
const maxOperationBytes = 1024 * 1024;

/** The largest body without its operations. It has no other members. */
const maxRestBytes = 16 * 1024;

/**
 * Parses the body of a batch, one operation at a time and in slices of time: one JSON.parse of 16 MiB would keep the
 * process busy for more than 100 ms. Returns the body; its member `operations` has the parsed operations if it is a list.
 * Throws 400 for other text than JSON, 413 for an operation of more than 1 MiB, and 422 for more than `most` operations.
 */
export async function parseOperations(bytes: Uint8Array, most: number): Promise<unknown> {
  const { elements, start, end } = await splitElements(bytes, 'operations', most);
  if (elements && elements.length > most) throw tooMany(most);
  const rest = Buffer.concat([bytes.subarray(0, start), bytes.subarray(end)]);
  if (rest.length > maxRestBytes) throw malformed('the body has more than a list of operations');
  const body = parse(rest);
  if (!elements) return body;
  if (!hasEmptyList(body)) throw malformed('the body has several lists of operations');
  const slice = startSlice();
  const operations: unknown[] = [];
  for (const [index, element] of elements.entries()) {
    if (slice.isOver()) await slice.pause();
    operations.push(parseOperation(index, bytes.subarray(element.start, element.end)));
  }
  return { ...body, operations };
}

const [opening, closing] = [Buffer.from('{"operations":'), Buffer.from('}')];

/** Parses the part of a form with the list of operations like `parseOperations`. */
export async function parseOperationList(bytes: Uint8Array, most: number): Promise<readonly unknown[]> {
  const body = await parseOperations(Buffer.concat([opening, bytes, closing]), most);
  if (typeof body !== 'object' || body === null || Object.keys(body).length > 1)
    throw malformed('the part operations is not valid JSON');
  return listOf(body);
}

/** The operations of a body. Throws 422 without a list. */
export function listOf({ operations }: { readonly operations?: unknown }): readonly unknown[] {
  if (operations === undefined) throw validationFailed({ operations: 'is required' });
  if (!Array.isArray(operations)) throw validationFailed({ operations: 'must be a list' });
  return operations;
}

/** 422 for the first operation that is too many. */
export const tooMany = (most: number): AppError =>
  operationRefused(most, { operations: `may have at most ${most} operations` });

const hasEmptyList = (body: unknown): body is object =>
  typeof body === 'object' &&
  body !== null &&
  'operations' in body &&
  Array.isArray(body.operations) &&
  body.operations.length === 0;

function parseOperation(index: number, bytes: Uint8Array): unknown {
  try {
    if (bytes.length > maxOperationBytes) throw payloadTooLarge(maxOperationBytes, 'an operation');
    const excess = findJsonExcess(bytes);
    if (excess) throw malformed(`the operation ${excess}`);
    return parse(bytes);
  } catch (error) {
    throw error instanceof AppError ? refusalAt(index, error) : error;
  }
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw malformed('the body is not valid JSON');
  }
}
