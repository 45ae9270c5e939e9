import { z } from 'zod';
import { type FieldType, Refusal } from '../field-type.ts';
import { encryptionOption } from './encryption.ts';
import { isStorable } from './storable.ts';

/** Deeper values than this would meet the stack limit of PostgreSQL's parser before ours. */
const maxDepth = 500;

/** Any JSON value. */
export const json: FieldType = {
  name: 'json',
  options: z.strictObject(encryptionOption),
  emptyTextIsNull: false,
  columnType: () => 'jsonb',
  valueSchema: () => ({}),
  compile: () => (value) => describeProblem(value, 0) ?? JSON.stringify(value),
};

function describeProblem(value: unknown, depth: number): Refusal | undefined {
  if (typeof value === 'string') {
    return isStorable(value) ? undefined : new Refusal('must not contain NUL or half a surrogate pair');
  }
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : new Refusal('must not exceed a double');
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth === maxDepth) return new Refusal(`must not nest more than ${maxDepth} deep`);
  for (const [key, member] of Object.entries(value)) {
    const problem = describeProblem(key, depth + 1) ?? describeProblem(member, depth + 1);
    if (problem) return problem;
  }
  return undefined;
}
