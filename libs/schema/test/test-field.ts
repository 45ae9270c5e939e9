import assert from 'node:assert/strict';
import type { Field } from '../src/field.ts';
import { ValueRefusal } from '../src/field-type.ts';
import { fieldTypeOf, fieldTypes } from '../src/fields/index.ts';

/** A field with the given type, its options completed as a definition's are. Throws for options it refuses. */
export function testField(type: string, options: object = {}, rest: Partial<Field> = {}): Field {
  const read = fieldTypes.get(type)?.options.parse(options) ?? {};
  return { id: 'f1', name: 'f', type, required: false, system: false, options: read, ...rest };
}

/** Asserts what a field makes of written values: what the column gets, or the refusal's message in an Error. */
export function assertReads(field: Field, table: readonly [written: unknown, expected: unknown][]): void {
  const read = fieldTypeOf(field).compile(field);
  for (const [written, expected] of table) {
    const value = read(written);
    const what = `${field.type} reads ${JSON.stringify(written)?.slice(0, 100)}`;
    if (expected instanceof Error) assert.equal(value instanceof ValueRefusal && value.message, expected.message, what);
    else assert.deepEqual(value, expected, what);
  }
}

/** Asserts that a type refuses options, with the given messages by their places. */
export function assertOptionsRefused(type: string, table: readonly [options: object, problems: object][]): void {
  for (const [options, expected] of table) {
    const { error } = fieldTypes.get(type)?.options.safeParse(options) ?? {};
    const problems = Object.fromEntries(error?.issues.map(({ path, message }) => [path.join('.'), message]) ?? []);
    assert.deepEqual(problems, expected, `${type} with ${JSON.stringify(options).slice(0, 100)}`);
  }
}

/** What narrowing a field from one set of options to another asks the rows, as `[option, where]`. */
export function narrowingsOf(type: string, from: object, to: object): [string, string][] {
  const now = testField(type, to);
  const narrowings = fieldTypeOf(now).narrowings?.(testField(type, from), now, '"f"') ?? [];
  return narrowings.map(({ option, where }) => [option, where]);
}
