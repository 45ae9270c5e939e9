import type { Database } from '@recordbus/database';
import type { Logger } from '@recordbus/process/logging';
import type { KeyRing } from '@recordbus/sessions';
import { createKeyUse, type KeyUse } from './key-use.ts';
import { createRefusedKeys, type RefusedKeys } from './refused-keys.ts';

/** Checks service keys, and records their use and their refusals. */
export interface ServiceKeys extends Pick<KeyRing, 'verify' | 'admits'> {
  readonly use: Pick<KeyUse, 'note'>;
  readonly refused: Pick<RefusedKeys, 'note'>;
  start(): void;
  stop(): Promise<void>;
}

interface ServiceKeysDeps {
  readonly ring: KeyRing;
  readonly database: Pick<Database, 'query'>;
  readonly log: Logger;
}

/** Creates a gateway's key checks. */
export function createServiceKeys({ ring, database, log }: ServiceKeysDeps): ServiceKeys {
  const use = createKeyUse({ database, log });
  const refused = createRefusedKeys({ database, log });
  return {
    verify: ring.verify,
    admits: ring.admits,
    use,
    refused,
    start() {
      use.start();
      refused.start();
    },
    async stop() {
      await use.stop();
      await refused.stop();
    },
  };
}
