import { recordAudit } from '@recordbus/audit';
import type { Query } from '@recordbus/database';
import type { Logger } from '@recordbus/process/logging';
import type { Metrics } from '@recordbus/process/metrics';
import type { Principal } from '@recordbus/request/context';
import type { Collection } from '@recordbus/schema';
import type { FileKey, Storage } from '@recordbus/storage';
import type { RuleContext } from '../rules/rule-context.ts';
import type { FileFacts } from './announced-files.ts';
import type { DownloadTokens } from './download-tokens.ts';
import { type FileName, type FoundFile, type LocatedFile, locateFile } from './find-file.ts';
import type { KeptPreviews } from './kept-previews.ts';
import type { Decoders } from './previews/decoders.ts';
import { createThumbs, type Thumbs } from './thumbs.ts';
import { createTypes, type Types } from './types.ts';
import { describeNamed, forgetFiles } from './uploaded-files.ts';

/** Reads files, apart from HTTP. */
export interface Downloads {
  readonly storage: Storage;
  readonly types: Types;
  readonly thumbs: Thumbs;
  readonly tokens: DownloadTokens;
  /** Whether a separate host serves the files, so that they share no origin with the API. */
  hasOwnHost(): boolean;
  /** Finds a record's file. Throws 404 when the record does not have it. `admit` then checks the caller. */
  locate(collection: Collection, file: FileName, ruleContext: RuleContext): Promise<LocatedFile>;
  /** Keeps what is known about a file whose bytes came after its name. */
  describe(key: FileKey, facts: Omit<FileFacts, 'type'>): Promise<void>;
  /** Removes a file's bytes, and what is known about it. */
  forget(key: FileKey): Promise<void>;
  /** Writes a download's audit row if the field has `auditDownloads` (files §7.5). */
  audit(collection: Collection, file: FileName, found: FoundFile, caller: Caller): Promise<void>;
}

interface DownloadDeps {
  readonly query: Query;
  readonly storage: Storage;
  readonly log: Logger;
  readonly tokens: DownloadTokens;
  readonly previews: Pick<KeptPreviews, 'note'>;
  readonly hasOwnHost: () => boolean;
  readonly decoders: Decoders;
  readonly metrics: Metrics;
}

interface Caller {
  readonly principal: Principal;
  readonly clientAddress: string;
  readonly userAgent: string | undefined;
}

/** Creates the file reader. */
export function createDownloads({
  query,
  storage,
  log,
  tokens,
  previews,
  decoders,
  metrics,
  hasOwnHost,
}: DownloadDeps): Downloads {
  const types = createTypes(storage);
  return {
    storage,
    hasOwnHost,
    types,
    thumbs: createThumbs({ storage, kept: previews, decoders, metrics, log }),
    tokens,
    locate: (collection, file, ruleContext) => locateFile(query, collection, file, ruleContext),

    async describe(key, { original, size }) {
      const [type] = (await types.of(key, size)).types;
      await describeNamed(query, key.segments, { original, size, type });
    },

    async forget(key) {
      const [collectionId, recordId, name] = key.segments;
      await storage.delete(key);
      await forgetFiles(query, { collectionId, recordId, name });
    },

    async audit(collection, { recordId, filename }, { field, options }, { userAgent, ...context }) {
      if (!options.auditDownloads) return;
      await recordAudit(query, {
        action: 'files.download',
        context,
        userAgent,
        target: { type: 'file', id: `${collection.name}/${recordId}/${filename}` },
        details: { field: field.name },
      });
    },
  };
}
