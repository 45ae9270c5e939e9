import type { Database } from '@recordbus/database';
import type { RouteInput } from '@recordbus/http';
import type { Collection } from '@recordbus/schema';
import type { Storage } from '@recordbus/storage';
import { announceEach } from './announced-files.ts';
import { dropOnFailure } from './drop-on-failure.ts';
import { awaitRemoval } from './pending-removal.ts';
import { receiveUpload } from './receive-upload.ts';
import type { Removals } from './removals.ts';
import type { Upload } from './upload-parts.ts';

/** The dependencies of uploads. */
export interface UploadDeps {
  readonly database: Pick<Database, 'query' | 'write'>;
  readonly storage: Storage;
  readonly removals: Pick<Removals, 'wake'>;
  /** Largest multipart body. */
  readonly maxUploadBytes: number;
}

/**
 * Runs a write with the upload of a multipart body, or without one. If the write fails or the client disconnects, the
 * files are removed: now, or by another replica if this one dies. `isNew` tells that the server has just made the id.
 */
export async function withUpload<T>(
  { multipart }: Pick<RouteInput<unknown, unknown, unknown>, 'multipart'>,
  target: { readonly collection: Collection; readonly recordId: string; readonly isNew?: true },
  deps: UploadDeps,
  write: (upload: Upload | undefined) => Promise<T>,
): Promise<T> {
  if (!multipart) return write(undefined);
  const { database, storage, removals, maxUploadBytes: limitBytes } = deps;
  const { collection, recordId, isNew } = target;
  const removal = isNew ? {} : { awaitRemoval: () => awaitRemoval(database.query, removals, collection, recordId) };
  return dropOnFailure(deps, async (announced) => {
    const announcer = announceEach(database.write, { collectionId: collection.id, recordId }, announced);
    return write(await receiveUpload(multipart, { collection, recordId, storage, limitBytes, announcer, ...removal }));
  });
}
