import { AppError, malformed, payloadTooLarge, validationFailed } from '@recordbus/errors';
import { findJsonExcess } from '@recordbus/http';
import { startSlice } from '@recordbus/limits/time-slice';
import { z } from 'zod';
import { operationRefused, refusalAt } from './batch-refusal.ts';
import { splitElements } from './split-elements.ts';

/** The largest operation: as large as a single write's body. */
export const maxOperationBytes = 1024 * 1024;

/** The largest body without its operations. It has no other members. */
const maxRestBytes = 16 * 1024;

/** A value in an operation list, and its JSON text's size. */
export interface ParsedOperation {
  readonly value: unknown;
  readonly bytes: number;
}

/**
 * Parses a batch's body, one operation at a time and in time slices: one JSON.parse with 16 MiB would keep the process
 * busy for more than 100 ms. Returns the body; its member `operations` is a list of ParsedOperation if it is a list.
 * Throws 400 for text that is not JSON, 413 for an operation larger than 1 MiB, and 422 for more than `most`
 * operations.
 */
export async function parseOperations(bytes: Uint8Array, most: number): Promise<unknown> {
  const { elements, start, end } = await splitElements(bytes, 'operations', most);
  if (elements && elements.length > most) throw tooMany(most);
  const rest = Buffer.concat([bytes.subarray(0, start), bytes.subarray(end)]);
  if (rest.length > maxRestBytes) throw malformed('the body has more than the operations list');
  const body = parse(rest);
  const list = listIn(body);
  if (!elements && list) throw malformed('the member name operations must have no escapes');
  if (!elements || !list) return body;
  if (list.length > 0) throw malformed('the body has several operations lists');
  const slice = startSlice();
  const operations: ParsedOperation[] = [];
  for (const [index, element] of elements.entries()) {
    if (slice.isOver()) await slice.pause();
    const value = parseOperation(index, bytes.subarray(element.start, element.end));
    operations.push({ value, bytes: element.end - element.start });
  }
  return { ...Object(body), operations };
}

const [opening, closing] = [Buffer.from('{"operations":'), Buffer.from('}')];

/** Parses the form part with the operation list like `parseOperations`. */
export async function parseOperationList(bytes: Uint8Array, most: number): Promise<readonly ParsedOperation[]> {
  const body = await parseOperations(Buffer.concat([opening, bytes, closing]), most);
  const { data, error } = parsedBody.safeParse(body);
  if (error?.issues.some(({ code }) => code === 'unrecognized_keys'))
    throw malformed('the part operations is not valid JSON');
  if (!data) throw validationFailed({ operations: 'must be a list' });
  return listOf(data);
}

/** A body's operations. Throws 422 without a list. */
export function listOf({ operations }: ParsedBody): readonly ParsedOperation[] {
  if (operations === undefined) throw validationFailed({ operations: 'is required' });
  return operations;
}

/** A parsed body. A form has its operations in a part, so they may be absent. */
export const parsedBody = z.strictObject({
  operations: z.array(z.object({ value: z.unknown(), bytes: z.number() }), 'must be a list').optional(),
});
type ParsedBody = z.output<typeof parsedBody>;

/** 422 for the first operation that is too many. */
export const tooMany = (most: number): AppError =>
  operationRefused(most, { operations: `may have at most ${most} operations` });

/** The operation list in a parsed body. */
const listIn = (body: unknown): readonly unknown[] | undefined =>
  typeof body === 'object' && body !== null && 'operations' in body && Array.isArray(body.operations)
    ? body.operations
    : undefined;

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
