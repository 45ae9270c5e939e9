import { z } from 'zod';
import { type FieldType, ValueRefusal } from '../field-type.ts';
import { encryptionOption } from './encryption.ts';
import { jsonText } from './form-text.ts';
import { isStorable } from './storable.ts';

/** Deeper values exceed the stack limit in PostgreSQL's parser before ours. */
const maxDepth = 500;

/** Any JSON value. */
export const json: FieldType = {
  name: 'json',
  reference: 'fields §3.10',
  options: z.strictObject(encryptionOption),
  samples: [{ values: [{ a: [1, null] }, [true], 'text', '', 1.5] }],
  emptyTextIsNull: false,
  columnType: () => 'jsonb',
  filterKind: () => 'json',
  viewType: 'json',
  // jsonb stores `1e300` with 301 digits.
  mayGrow: true,
  formText: () => jsonText,
  valueSchema: () => ({}),
  compile: () => (value) => describeProblem(value, 0) ?? JSON.stringify(value),
};

function describeProblem(value: unknown, depth: number): ValueRefusal | undefined {
  if (typeof value === 'string') {
    return isStorable(value) ? undefined : new ValueRefusal('must not contain NUL or half a surrogate pair');
  }
  if (typeof value === 'number')
    return Number.isFinite(value) ? undefined : new ValueRefusal('must not exceed a double');
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth === maxDepth) return new ValueRefusal(`must not nest more than ${maxDepth} deep`);
  if (Array.isArray(value)) {
    for (const item of value) {
      const problem = describeProblem(item, depth + 1);
      if (problem) return problem;
    }
    return undefined;
  }
  for (const [key, member] of Object.entries(value)) {
    const problem = describeProblem(key, depth + 1) ?? describeProblem(member, depth + 1);
    if (problem) return problem;
  }
  return undefined;
}
