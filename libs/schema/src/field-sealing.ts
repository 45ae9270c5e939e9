import { type Envelope, hashPassword } from '@recordbus/crypto';
import type { Collection } from './collection.ts';
import { encryptedFieldsOf, openValue, sealStored } from './encrypted-values.ts';
import type { Field } from './field.ts';
import { PlainSecret } from './plain-secret.ts';
import type { ColumnValues } from './record-reader.ts';

/** Keeps the secrets of records: on the way into the database, and on the way out of it. */
export interface FieldSealing {
  /**
   * Puts in the place of each password its Argon2id hash, made off the event loop, and of each value of an encrypted
   * field its envelope. To be called before the statement, so that no row is locked meanwhile. Throws 503 when too many
   * hashes are waiting.
   */
  storeSecrets(collection: Collection, values: ColumnValues): Promise<ColumnValues>;
  /** Opens the encrypted fields of a record, in place. */
  openRecord(collection: Collection, record: Record<string, unknown>): void;
}

interface FieldSealingDeps {
  readonly envelope: Envelope;
  readonly log: { warn(fields: object, message: string): void };
}

/** Makes it. What can't be sealed or opened is complained of once for each field. */
export function createFieldSealing({ envelope, log }: FieldSealingDeps): FieldSealing {
  const complaints = new Set<string>();

  function complain({ name: collection }: Collection, { name: field }: Field, message: string): void {
    const key = JSON.stringify([collection, field, message]);
    if (complaints.has(key)) return;
    complaints.add(key);
    log.warn({ collection, field }, message);
  }

  async function stored(collection: Collection, name: string, { kind, text }: PlainSecret): Promise<string> {
    if (kind === 'password') return hashPassword(text);
    const field = encryptedFieldsOf(collection).find((candidate) => candidate.name === name);
    if (!field) throw new Error(`${name} is no encrypted field of ${collection.name}`);
    if (!envelope.isSealing)
      complain(collection, field, 'an encrypted field is stored in plain text: SERVICE_ENCRYPTION_KEY is not set');
    return sealStored(envelope, field, text);
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
    openRecord(collection, record) {
      for (const field of encryptedFieldsOf(collection)) {
        const shown = record[field.name];
        if (typeof shown !== 'string') continue;
        const { value, isOpen } = openValue(envelope, field, shown);
        if (!isOpen)
          complain(collection, field, 'an encrypted field can not be read: SERVICE_ENCRYPTION_KEY does not open it');
        record[field.name] = value;
      }
    },
  };
}
