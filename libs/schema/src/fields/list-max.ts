import type { JsonSchema } from '@recordbus/http';
import { z } from 'zod';
import type { Field } from '../field.ts';
import { type Narrowing, ValueRefusal } from '../field-type.ts';
import type { ResultRefusal } from '../value-operators.ts';

/** The option `max` of a field with `multiple`: how many entries its list may have; 0 means no limit. */
export const listMaxOption = z.int('must be a whole number').min(0, 'must be a whole number').default(0);

/** A list's limit. Without one, no list is too long. */
export interface ListMax {
  readonly refusal: ValueRefusal;
  isExceededBy(length: number): boolean;
  /** When an operator's result (SQL, jsonb) is refused. */
  refusals(list: string): readonly ResultRefusal[];
  /** Adds the limit to the schema of a written list. */
  limit(schema: JsonSchema): JsonSchema;
}

/** Returns the limit of a field with `multiple`. `entries` names them in the refusal: "must have at most 3 files". */
export function listMaxOf({ options }: Field, entries: string): ListMax {
  const max = typeof options.max === 'number' ? options.max : 0;
  const message = `must have at most ${max} ${entries}`;
  return {
    refusal: new ValueRefusal(message),
    isExceededBy: (length) => max > 0 && length > max,
    refusals: (list) => (max > 0 ? [{ where: `jsonb_array_length(${list}) > ${max}`, message }] : []),
    limit: (schema) => (max > 0 ? { ...schema, maxItems: max } : schema),
  };
}

/** The restrictions by which a list field refuses stored lists that are longer than it now allows. */
export function listNarrowings({ options: before }: Field, { options: after }: Field, column: string): Narrowing[] {
  const longerThan = (option: string, length: number): Narrowing => ({
    option,
    where: `jsonb_array_length(${column}) > ${length}`,
  });
  const [old, max] = [Number(before.max), Number(after.max)];
  if (!before.multiple) return [];
  if (!after.multiple) return [longerThan('multiple', 1)];
  return max > 0 && !(old > 0 && old <= max) ? [longerThan('max', max)] : [];
}
