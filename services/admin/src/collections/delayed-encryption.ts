import type { ValueCipher } from '@recordbus/crypto';
import { type Database, locks, type Query, takeLock } from '@recordbus/database';
import { rewriteStored } from '@recordbus/journal';
import { inSlices } from '@recordbus/limits/time-slice';
import { whenWoken } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import {
  type Collection,
  encryptedFieldsOf,
  encryptStored,
  loadCollection,
  loadCollections,
  shapeOf,
} from '@recordbus/schema';

/** After this time every replica knows about a change, even without the bus, and has completed its earlier writes. */
const delayMs = 10_000;
/** A collection changed within this time may have writes by replicas that had not learned about the change. */
const recentSec = 120;

/** Encrypts values that replicas stored in plain text before they learned that a field is encrypted. */
export interface DelayedEncryption {
  /** Schedules the work. Call it after a schema change. */
  wake(): void;
  /** Resolves when running work is done. */
  stop(): Promise<void>;
}

interface DelayedEncryptionDeps {
  readonly database: Pick<Database, 'query' | 'transaction'>;
  readonly cipher: ValueCipher;
  readonly log: Logger;
  readonly nowSec: () => number;
}

/** Creates the background task. */
export function createDelayedEncryption({ log, ...deps }: DelayedEncryptionDeps): DelayedEncryption {
  const encrypting = whenWoken({
    name: 'encrypt values that replicas stored in plain text',
    log,
    soonMs: delayMs,
    isDebounced: true,
    run: () => encryptRecent(deps),
  });
  return {
    wake() {
      if (deps.cipher.isEncrypting) encrypting.wakeSoon();
    },
    stop: encrypting.stop,
  };
}

/** Encrypts the plain values in the encrypted fields of each collection that changed lately. */
export async function encryptRecent({ database, cipher, nowSec }: Omit<DelayedEncryptionDeps, 'log'>): Promise<void> {
  const { collections } = await loadCollections(database.query);
  const recent = collections.filter(({ updatedAtSec }) => updatedAtSec > nowSec() - recentSec);
  for await (const collection of inSlices(recent))
    try {
      const query = queryWhileUnchanged(database, collection);
      for (const field of encryptedFieldsOf(collection))
        await rewriteStored(query, collection, field, (stored) => encryptStored(cipher, field, stored));
    } catch (error) {
      // That change has woken the task again.
      if (!(error instanceof CollectionChanged)) throw error;
    }
}

class CollectionChanged extends Error {}

/**
 * Runs each statement between schema changes, and throws once the collection has changed: a field that was decrypted
 * meanwhile must not get ciphertext.
 */
const queryWhileUnchanged =
  ({ transaction }: Pick<Database, 'transaction'>, collection: Collection): Query =>
  (statement) =>
    transaction(async (query) => {
      await takeLock(query, locks.schema);
      const now = await loadCollection(query, collection.id);
      if (!now || now.name !== collection.name || shapeOf(now) !== shapeOf(collection)) throw new CollectionChanged();
      return query(statement);
    });
