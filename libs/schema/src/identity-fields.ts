import type { Collection } from './collection.ts';
import { isEncrypted } from './encrypted-values.ts';
import type { Field } from './field.ts';
import { isUnique } from './unique-sql.ts';

/** The types whose values a person types, and of which each text is one value. */
const identityTypes: readonly string[] = ['text', 'email', 'url'];

/** Returns why a login cannot name accounts by the field with this name; undefined if it can (auth §4.1). */
export function findIdentityProblem({ fields }: Pick<Collection, 'fields'>, name: string): string | undefined {
  const field = fields.find((one) => one.name === name);
  if (!field) return `there is no field "${name}"`;
  if (field.system) return `"${name}" needs no setting`;
  if (!identityTypes.includes(field.type)) return `"${name}" is a ${field.type} field, and must be text, email or url`;
  if (isEncrypted(field) || !isUnique(field)) return `"${name}" is not unique`;
  return undefined;
}

/** Returns the fields with these names by which a login can name accounts. */
export const identityFieldsOf = (collection: Pick<Collection, 'fields'>, names: readonly string[]): readonly Field[] =>
  names.flatMap((name) =>
    findIdentityProblem(collection, name) === undefined ? collection.fields.filter((field) => field.name === name) : [],
  );
