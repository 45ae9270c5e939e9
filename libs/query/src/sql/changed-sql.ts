import { type Field, fieldTypeOf, quoteIdentifier, ValueRefusal } from '@recordbus/schema';
import { findRequestValue, type RequestValues } from './request-values.ts';
import type { SqlTarget } from './sql-target.ts';

/** Holds where the body's field value differs from the stored one (rules §4.3). Never null. */
export function changedSql(field: Field, { parameters, stored }: SqlTarget): string {
  const read = bodyReader(field);
  if (stored === undefined)
    return parameters.ofRequest(`set ${field.name}`, 'boolean', (request) => (read(request) ?? null) !== null);
  const isset = parameters.ofRequest(`named ${field.name}`, 'boolean', (request) => read(request) !== undefined);
  const value = parameters.ofRequest(
    `written ${field.name}`,
    fieldTypeOf(field).columnType(field),
    (request) => read(request) ?? null,
  );
  return `(${isset} and ${stored}.${quoteIdentifier(field.name)} is distinct from ${value})`;
}

/** Builds a reader for the field's value that reads as the write itself does; undefined when the body lacks it. */
function bodyReader(field: Field): (request: RequestValues) => unknown {
  const type = fieldTypeOf(field);
  const read = type.compile(field);
  return (request) => {
    const written = findRequestValue('body', [field.name], request);
    if (written === undefined) return undefined;
    if (written === null || (written === '' && type.emptyTextIsNull)) return null;
    const value = read(written);
    // The write refuses the body as a whole.
    return value instanceof ValueRefusal ? null : value;
  };
}
