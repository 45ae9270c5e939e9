import { type Envelope, isSealed } from '@recordbus/crypto';
import type { Collection } from './collection.ts';
import type { Field } from './field.ts';

/** Is the field encrypted at rest (interface §2.2)? */
export const isEncrypted = ({ options }: Field): boolean => options.encrypted === true;

const known = new WeakMap<readonly Field[], readonly Field[]>();

/** The encrypted fields of a collection. */
export function encryptedFieldsOf({ fields }: Pick<Collection, 'fields'>): readonly Field[] {
  const found = known.get(fields) ?? fields.filter(isEncrypted);
  known.set(fields, found);
  return found;
}

// What is stored is the text of the column: of a json field JSON text, which sealed is the JSON string of the envelope.

/** Values that hold nothing are not sealed, so that the database can tell them from others. */
const isEmpty = (field: Field, stored: string): boolean =>
  field.type === 'json' ? stored === '""' || stored === '[]' : stored === '';

/** Does what is stored of an encrypted field look sealed? */
export const isStoredSealed = (field: Field, stored: string): boolean =>
  isSealed(field.type === 'json' ? stored.slice(1) : stored);

/** Seals what is stored of a field, unless it is sealed already or holds nothing. */
export function sealStored(envelope: Envelope, field: Field, stored: string): string {
  if (isEmpty(field, stored) || isStoredSealed(field, stored) || !envelope.isSealing) return stored;
  const sealed = envelope.seal(stored);
  return field.type === 'json' ? JSON.stringify(sealed) : sealed;
}

/** Opens what is stored of a field; what was never sealed comes back as it is, undefined what the key does not open. */
export function openStored(envelope: Envelope, field: Field, stored: string): string | undefined {
  if (!isStoredSealed(field, stored)) return stored;
  return envelope.open(field.type === 'json' ? stored.slice(1, -1) : stored);
}

/** Opens the value of a field as a record shows it: "" (json: null) for one that the key does not open (contract §2). */
export function openValue(envelope: Envelope, field: Field, value: string): { value: unknown; isOpen: boolean } {
  if (!isSealed(value)) return { value, isOpen: true };
  const opened = envelope.open(value);
  if (opened === undefined) return { value: field.type === 'json' ? null : '', isOpen: false };
  return { value: field.type === 'json' ? JSON.parse(opened) : opened, isOpen: true };
}
