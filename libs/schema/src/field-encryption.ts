import { hashPassword, type ValueCipher } from '@recordbus/crypto';
import { startSlice } from '@recordbus/limits/time-slice';
import type { Collection } from './collection.ts';
import { decryptAsJson, decryptValue, encryptedFieldsOf, encryptStored } from './encrypted-values.ts';
import type { Field } from './field.ts';
import { PlainSecret } from './plain-secret.ts';
import type { ColumnValues } from './record-reader.ts';

/** Hashes and encrypts records' secrets for the database, and decrypts them for answers. */
export interface FieldEncryption {
  /**
   * Replaces each password by its Argon2id hash, computed off the event loop, and each encrypted field's value by its
   * ciphertext. Call it before the statement, so that no row is locked meanwhile. Throws 503 when too many hashes are
   * waiting.
   */
  storeSecrets(collection: Collection, values: ColumnValues): Promise<ColumnValues>;
  /** Decrypts a record's encrypted fields in place; large ones in time slices, field by field. */
  decryptRecord(collection: Collection, record: Record<string, unknown>): Promise<void>;
  /** Decrypts an encrypted field's value. Returns its JSON text, or undefined for a value that is not encrypted. */
  decryptJson(collection: Collection, field: Field, value: string): string | undefined;
}

interface FieldEncryptionDeps {
  readonly cipher: ValueCipher;
  readonly log: { warn(fields: object, message: string): void };
}

/** Creates this process's encryption. It warns once for each field that it cannot encrypt or decrypt. */
export function createFieldEncryption({ cipher, log }: FieldEncryptionDeps): FieldEncryption {
  const warned = new Set<string>();

  function warnOnce({ name: collection }: Collection, { name: field }: Field, message: string): void {
    const key = JSON.stringify([collection, field, message]);
    if (warned.has(key)) return;
    warned.add(key);
    log.warn({ collection, field }, message);
  }

  const warnUndecryptable = (collection: Collection, field: Field): void =>
    warnOnce(collection, field, 'an encrypted field cannot be decrypted with SERVICE_ENCRYPTION_KEY');

  async function stored(collection: Collection, name: string, { kind, text }: PlainSecret): Promise<string> {
    if (kind === 'password') return hashPassword(text);
    const field = encryptedFieldsOf(collection).find((candidate) => candidate.name === name);
    if (!field) throw new Error(`${name} is not an encrypted field of ${collection.name}`);
    if (!cipher.isEncrypting)
      warnOnce(collection, field, 'an encrypted field is stored in plain text: SERVICE_ENCRYPTION_KEY is not set');
    return encryptStored(cipher, field, text);
  }

  return {
    async storeSecrets(collection, values) {
      let result: Map<string, unknown> | undefined;
      for (const [name, value] of values) {
        if (!(value instanceof PlainSecret)) continue;
        result ??= new Map(values);
        result.set(name, await stored(collection, name, value));
      }
      return result ?? values;
    },
    async decryptRecord(collection, record) {
      const slice = startSlice();
      for (const field of encryptedFieldsOf(collection)) {
        const shown = record[field.name];
        if (typeof shown !== 'string') continue;
        if (slice.isOver()) await slice.pause();
        const { value, isDecrypted } = decryptValue(cipher, field, shown);
        if (!isDecrypted) warnUndecryptable(collection, field);
        record[field.name] = value;
      }
    },
    decryptJson(collection, field, value) {
      const opened = decryptAsJson(cipher, field, value);
      if (opened?.isDecrypted === false) warnUndecryptable(collection, field);
      return opened?.json;
    },
  };
}
