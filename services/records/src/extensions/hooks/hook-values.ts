import { AppError } from '@recordbus/errors';
import { type Collection, compileRecordReader, isWriteOnly, perCollection } from '@recordbus/schema';
import { isObject } from '@recordbus/text/json';
import type { Operation, PendingWrite } from '../../write/write-hooks.ts';

type Values = Readonly<Record<string, unknown>>;

/** Separates passwords from a body, since extensions' code never sees them. */
export function withholdPasswords(collection: Collection, body: PendingWrite['body']) {
  const secret = new Set(collection.fields.filter(isWriteOnly).map(({ name }) => name));
  const isSecret = (name: string) =>
    secret.has(name) || (collection.type === 'auth' && (name === 'password' || name === 'old_password'));
  const entries = Object.entries(body);
  return {
    visible: Object.fromEntries(entries.filter(([name]) => !isSecret(name))),
    withheld: Object.fromEntries(entries.filter(([name]) => isSecret(name))),
  };
}

const readerOf = perCollection(compileRecordReader);

/** Throws 422 like the write itself. Only the write checks withheld passwords. */
export async function checkFields(
  { collection, given }: PendingWrite,
  operation: Operation,
  values: Values,
): Promise<void> {
  const reader = readerOf(collection);
  if (operation === 'update') {
    await reader.readChange(values);
    return;
  }
  try {
    await reader.readNew(values, given);
  } catch (error) {
    const details = error instanceof AppError ? (error.details ?? {}) : undefined;
    const passwords = collection.fields.filter(isWriteOnly).map(({ name }) => name);
    if (!details || Object.keys(details).some((name) => !passwords.includes(name))) throw error;
  }
}

/** Reads the values that a hook returned as JSON text. Throws 500 for anything but an object. */
export function readValues(text: unknown): Values {
  const values: unknown = JSON.parse(String(text));
  if (isObject(values)) return { ...values };
  throw new AppError(500, 'extension_failed', "a hook's values are not an object");
}
