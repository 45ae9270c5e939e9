import { recordAudit } from '@recordbus/audit';
import type { Query } from '@recordbus/database';
import type { Logger } from '@recordbus/process/logging';
import type { Metrics } from '@recordbus/process/metrics';
import type { Principal } from '@recordbus/request/context';
import type { Collection } from '@recordbus/schema';
import type { Storage } from '@recordbus/storage';
import type { RuleContext } from '../rules/rule-context.ts';
import type { DownloadTokens } from './download-tokens.ts';
import { type FileName, type FoundFile, type LocatedFile, locateFile } from './find-file.ts';
import type { KeptPreviews } from './kept-previews.ts';
import type { Decoders } from './previews/decoders.ts';
import { createThumbs, type Thumbs } from './thumbs.ts';
import { createTypes, type Types } from './types.ts';

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
export const createDownloads = ({
  query,
  storage,
  log,
  tokens,
  previews,
  decoders,
  metrics,
  hasOwnHost,
}: DownloadDeps): Downloads => ({
  storage,
  hasOwnHost,
  types: createTypes(storage),
  thumbs: createThumbs({ storage, kept: previews, decoders, metrics, log }),
  tokens,
  locate: (collection, file, ruleContext) => locateFile(query, collection, file, ruleContext),

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
});
