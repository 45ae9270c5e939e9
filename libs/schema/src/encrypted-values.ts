import { isCiphertext, type ValueCipher } from '@recordbus/crypto';
import type { Collection } from './collection.ts';
import type { Field } from './field.ts';
import { fieldTypeOf } from './fields/index.ts';

/** Whether the field is encrypted at rest (fields §4.1). */
export const isEncrypted = ({ options }: Field): boolean => options.encrypted === true;

const isJson = (field: Field): boolean => fieldTypeOf(field).columnType(field) === 'jsonb';

const known = new WeakMap<readonly Field[], readonly Field[]>();

/** A collection's encrypted fields. */
export function encryptedFieldsOf({ fields }: Pick<Collection, 'fields'>): readonly Field[] {
  const found = known.get(fields) ?? fields.filter(isEncrypted);
  known.set(fields, found);
  return found;
}

// The stored value is the column's text. For a json field that is JSON text, whose ciphertext is a JSON string.

/** Empty values are not encrypted, so the database can recognize them (fields §4.2). */
const isEmpty = (field: Field, stored: string): boolean =>
  isJson(field) ? stored === '""' || stored === '[]' : stored === '';

/** Whether an encrypted field's stored value is a ciphertext. */
export const isStoredEncrypted = (field: Field, stored: string): boolean =>
  isCiphertext(isJson(field) ? stored.slice(1) : stored);

/** Encrypts a field's stored value, unless it is encrypted already or empty. */
export function encryptStored(cipher: ValueCipher, field: Field, stored: string): string {
  if (isEmpty(field, stored) || isStoredEncrypted(field, stored) || !cipher.isEncrypting) return stored;
  const encrypted = cipher.encrypt(stored);
  return isJson(field) ? JSON.stringify(encrypted) : encrypted;
}

/** Decrypts a field's stored value. Returns plain text as it is, and undefined where the key does not decrypt it. */
export function decryptStored(cipher: ValueCipher, field: Field, stored: string): string | undefined {
  if (!isStoredEncrypted(field, stored)) return stored;
  return cipher.decrypt(isJson(field) ? stored.slice(1, -1) : stored);
}

/** Decrypts a field's value in a record: "" (json: null) where the key does not decrypt it (fields §4.6). */
export function decryptValue(
  cipher: ValueCipher,
  field: Field,
  value: string,
): { value: unknown; isDecrypted: boolean } {
  if (!isCiphertext(value)) return { value, isDecrypted: true };
  const decrypted = cipher.decrypt(value);
  if (decrypted === undefined) return { value: isJson(field) ? null : '', isDecrypted: false };
  return { value: isJson(field) ? JSON.parse(decrypted) : decrypted, isDecrypted: true };
}

/**
 * Decrypts a field's value to its JSON text; for a json field that is the decrypted text itself. Undefined for a value
 * that is not encrypted.
 */
export function decryptAsJson(
  cipher: ValueCipher,
  field: Field,
  value: string,
): { json: string; isDecrypted: boolean } | undefined {
  if (!isCiphertext(value)) return undefined;
  const decrypted = cipher.decrypt(value);
  if (decrypted === undefined) return { json: isJson(field) ? 'null' : '""', isDecrypted: false };
  return { json: isJson(field) ? decrypted : JSON.stringify(decrypted), isDecrypted: true };
}
