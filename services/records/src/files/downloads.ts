import { recordAudit } from '@recordbus/audit';
import type { Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import type { Principal } from '@recordbus/shared/context';
import type { Logger } from '@recordbus/shared/logging';
import type { Storage } from '@recordbus/storage';
import type { Asking } from '../rules/compile-rule.ts';
import type { DownloadTokens } from './download-tokens.ts';
import { type FileName, type FoundFile, findFile } from './find-file.ts';
import { createThumbs, type Thumbs } from './thumbs.ts';
import { createTypes, type Types } from './types.ts';

/** Everything about reading files that is not HTTP. */
export interface Downloads {
  readonly storage: Storage;
  readonly types: Types;
  readonly thumbs: Thumbs;
  readonly tokens: DownloadTokens;
  /** Throws 404 for a file that the record does not have, 403 or 401 where a rule or an option refuses. */
  find(collection: Collection, file: FileName, asking: Asking): Promise<FoundFile>;
  /** Writes the audit row of a download, where the field asks for one. */
  audit(collection: Collection, file: FileName, found: FoundFile, caller: Caller): Promise<void>;
}

interface DownloadDeps {
  readonly query: Query;
  readonly storage: Storage;
  readonly log: Logger;
  readonly tokens: DownloadTokens;
}

interface Caller {
  readonly principal: Principal;
  readonly clientAddress: string;
  readonly userAgent: string | undefined;
}

/** Makes the reader of files. */
export const createDownloads = ({ query, storage, log, tokens }: DownloadDeps): Downloads => ({
  storage,
  types: createTypes(storage),
  thumbs: createThumbs({ storage, log }),
  tokens,
  find: (collection, file, asking) => findFile(query, collection, file, asking),

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
