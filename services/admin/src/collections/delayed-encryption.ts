import type { ValueCipher } from '@recordbus/crypto';
import type { Database } from '@recordbus/database';
import { rewriteStored } from '@recordbus/journal';
import { inSlices } from '@recordbus/limits/time-slice';
import { whenWoken } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import { encryptedFieldsOf, encryptStored, loadCollections } from '@recordbus/schema';

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
  readonly database: Pick<Database, 'query'>;
  readonly cipher: ValueCipher;
  readonly log: Logger;
  readonly nowSec: () => number;
}

/** Creates the background task. */
export function createDelayedEncryption({ database, cipher, log, nowSec }: DelayedEncryptionDeps): DelayedEncryption {
  const encrypting = whenWoken({
    name: 'encrypt values that replicas stored in plain text',
    log,
    soonMs: delayMs,
    isDebounced: true,
    run: encryptRecent,
  });

  async function encryptRecent(): Promise<void> {
    const { collections } = await loadCollections(database.query);
    const recent = collections.filter(({ updatedAtSec }) => updatedAtSec > nowSec() - recentSec);
    for await (const collection of inSlices(recent))
      for (const field of encryptedFieldsOf(collection))
        await rewriteStored(database.query, collection, field, (stored) => encryptStored(cipher, field, stored));
  }

  return {
    wake() {
      if (cipher.isEncrypting) encrypting.wakeSoon();
    },
    stop: encrypting.stop,
  };
}
