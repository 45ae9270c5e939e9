import type { JsonSchema } from '@recordbus/http';
import type { Field } from './field.ts';
import { ValueRefusal } from './field-type.ts';
import { fieldTypeOf } from './fields/index.ts';

/** Adds an example to a field's schema, for types whose schema says little about a value's form. */
export function withExample(field: Field, schema: JsonSchema): JsonSchema {
  if (schema.examples !== undefined) return schema;
  const value = findExample(field);
  return value === undefined ? schema : { ...schema, examples: [value] };
}

/** The type's first sample value that the field takes. */
function findExample(field: Field): unknown {
  const { samples, compile, isWriteOnly } = fieldTypeOf(field);
  if (isWriteOnly) return undefined;
  const values = samples
    .filter(({ options }) => (options?.multiple === true) === (field.options.multiple === true))
    .flatMap((sample) => sample.values)
    .filter(Boolean);
  if (values.length === 0) return undefined;
  const read = compile(field);
  return values.find((value) => !(read(value) instanceof ValueRefusal));
}
