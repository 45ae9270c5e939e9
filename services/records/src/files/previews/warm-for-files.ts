import type { Logger } from '@recordbus/process/logging';
import type { CollectionCache } from '@recordbus/schema';
import { fileFieldsOf } from '../file-changes.ts';
import type { Decoders } from './decoders.ts';

interface WarmForFilesDeps {
  readonly decoders: Pick<Decoders, 'warm'>;
  readonly collections: Pick<CollectionCache, 'all' | 'onChange'>;
  readonly log: Logger;
}

/** The decoders' start, as soon as a collection has files. */
export interface WarmForFiles {
  /** Starts a process now or, without a file field, when the first one is added. */
  warm(): Promise<void>;
  stop(): void;
}

/**
 * Keeps a decoder ready for the first preview (cost §4.3). Its process takes 80 MB, so a service whose collections have no
 * files starts none.
 */
export function createWarmForFiles({ decoders, collections, log }: WarmForFilesDeps): WarmForFiles {
  let endWatch = (): void => {};
  async function startOne(): Promise<void> {
    if (collections.all().some((collection) => fileFieldsOf(collection).length > 0)) await decoders.warm();
  }
  return {
    async warm() {
      endWatch = collections.onChange(() => {
        startOne().catch((err) => log.warn({ err }, 'cannot start the process that creates previews'));
      });
      await startOne();
    },
    stop: () => endWatch(),
  };
}
