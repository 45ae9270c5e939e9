import type { ValueCipher } from '@recordbus/crypto';
import type { Query } from '@recordbus/database';
import { countUnreadable } from '@recordbus/encryption';
import { every } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';

/** Knows how many encrypted values this stack cannot read. */
export interface KeyWatch {
  /** What is wrong with the encryption key (http §11.2); undefined if it decrypts what was tried. */
  findProblem(): string | undefined;
  start(): void;
  stop(): Promise<void>;
}

interface KeyWatchDeps {
  readonly query: Query;
  readonly cipher: ValueCipher;
  readonly log: Logger;
}

/** How often the values are counted again, in milliseconds. An operator may have removed or set them again. */
const countMs = 600_000;

/** Creates the watch. It counts at the start, and warns when there are such values (encryption §4.2). */
export function createKeyWatch({ query, cipher, log }: KeyWatchDeps): KeyWatch {
  let count = 0;
  const key = cipher.isEncrypting ? 'SERVICE_ENCRYPTION_KEY is another key' : 'SERVICE_ENCRYPTION_KEY is missing';
  const counting = every({
    name: 'count the values that the encryption key does not decrypt',
    log,
    intervalMs: countMs,
    async run() {
      const before = count;
      count = await countUnreadable(query, cipher);
      if (count !== before && count > 0)
        log.warn({ count }, `encrypted values cannot be read, they read as empty: ${key}`);
    },
  });
  return {
    findProblem: () => (count > 0 ? `${count} encrypted values read as empty: ${key}` : undefined),
    start: counting.start,
    stop: counting.stop,
  };
}
