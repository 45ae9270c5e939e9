import type { Field } from '../field.ts';
import { allowsNoAddress, hasDefault } from '../field-default.ts';
import { email } from '../fields/email.ts';
import { newFieldId } from './field-id.ts';
import type { Problems } from './problems.ts';

/** The fields that every auth collection has (collections §2.2). */
const implicit: readonly Omit<Field, 'id'>[] = [
  { name: 'email', type: 'email', required: true, system: true, options: email.options.parse({}) },
  { name: 'verified', type: 'bool', required: false, system: true, options: {} },
];

/**
 * Returns an auth collection's fields with `email` and `verified`, which stay or are added when the definition leaves
 * them out. Their options may change, but not their names and types, and the address stays required and unique. Adds
 * what is wrong to `problems`.
 */
export function completeAuthFields(
  fields: readonly Field[],
  previous: readonly Field[] | undefined,
  problems: Problems,
): Field[] {
  const formerNames = new Map(previous?.filter(({ system }) => system).map(({ id, name }) => [id, name]));
  for (const { id, name } of fields) {
    const former = formerNames.get(id);
    if (former !== undefined && former !== name) problems.add(`fields.${name}.name`, `cannot change from ${former}`);
  }
  const missing = implicit.filter(
    ({ name }) => !fields.some((field) => field.name === name || formerNames.get(field.id) === name),
  );
  return [
    ...missing.map(
      (field) => previous?.find(({ name }) => name === field.name) ?? complete({ ...field, id: newFieldId() }),
    ),
    ...fields.map((field) => {
      const given = implicit.find(({ name }) => name === field.name);
      if (!given) return field;
      if (field.type !== given.type) problems.add(`fields.${field.name}.type`, `must be ${given.type}`);
      if (field.options.encrypted)
        problems.add(`fields.${field.name}.options.encrypted`, 'is not for the address by which users sign in');
      if (hasDefault(field) && !allowsNoAddress(field))
        problems.add(`fields.${field.name}.options.default`, 'is not for a field that every auth collection has');
      return complete(field);
    }),
  ];
}

const complete = (field: Field): Field =>
  field.name === 'email'
    ? { ...field, required: true, system: true, options: { ...field.options, unique: true } }
    : { ...field, required: false, system: true };
