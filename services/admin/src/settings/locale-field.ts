import { type Collection, isEncrypted } from '@recordbus/schema';

/** Finds why a field cannot say in which language an account's mails are (mail §2.7). */
export function findLocaleProblem({ fields }: Pick<Collection, 'fields'>, name: string): string | undefined {
  const field = fields.find((one) => one.name === name);
  if (!field) return `there is no field "${name}"`;
  const isOneText = field.type === 'text' || (field.type === 'select' && field.options.multiple !== true);
  if (!isOneText || isEncrypted(field))
    return `"${name}" must be a text field, or a select field with one value, and not encrypted`;
  return undefined;
}
