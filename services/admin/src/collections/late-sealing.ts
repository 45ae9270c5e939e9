import type { Envelope } from '@recordbus/crypto';
import type { Database } from '@recordbus/database';
import { rewriteStored } from '@recordbus/journal';
import { encryptedFieldsOf, loadCollections, sealStored } from '@recordbus/schema';
import type { Logger } from '@recordbus/shared/logging';

/** By then every replica has heard of a change, also without the bus, and what it was writing is written. */
const delayMs = 10_000;
/** A collection that was changed in this time may have been written by somebody who had not heard of it. */
const recentSec = 120;

/** Seals what replicas stored in plain text before they heard that a field is encrypted. */
export interface LateSealing {
  /** To be called after a change of the schema. */
  wake(): void;
  /** Resolves when what is under way is done. */
  stop(): Promise<void>;
}

interface LateSealingDeps {
  readonly database: Pick<Database, 'query'>;
  readonly envelope: Envelope;
  readonly log: Logger;
  readonly nowSec: () => number;
}

/** Makes it. */
export function createLateSealing({ database, envelope, log, nowSec }: LateSealingDeps): LateSealing {
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();

  async function seal(): Promise<void> {
    const { collections } = await loadCollections(database.query);
    for (const collection of collections.filter(({ updatedAtSec }) => updatedAtSec > nowSec() - recentSec))
      for (const field of encryptedFieldsOf(collection))
        await rewriteStored(database.query, collection, field, (stored) => sealStored(envelope, field, stored));
  }

  return {
    wake() {
      if (!envelope.isSealing) return;
      clearTimeout(timer);
      timer = setTimeout(() => {
        running = running.then(seal).catch((error: unknown) => log.warn({ err: error }, 'late values were not sealed'));
      }, delayMs);
    },
    async stop() {
      clearTimeout(timer);
      await running;
    },
  };
}
