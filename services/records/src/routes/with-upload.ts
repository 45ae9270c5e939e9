import type { Collection } from '@recordbus/schema';
import type { RouteInput } from '@recordbus/shared/http';
import { dropAnnounced } from '../files/announced-files.ts';
import { receiveUpload } from '../files/receive-upload.ts';
import type { Upload } from '../files/upload-parts.ts';
import type { RouteDeps } from './route-deps.ts';

/**
 * Does a write with what a multipart body has brought; without one, `write` gets no upload. When the write fails, or
 * the client goes away before the end, the files are removed: at once, or by any replica if this one dies.
 */
export async function withUpload<T>(
  { multipart }: Pick<RouteInput<unknown, unknown, unknown>, 'multipart'>,
  target: { readonly collection: Collection; readonly recordId: string },
  { database, storage, removals, maxUploadBytes }: RouteDeps,
  write: (upload: Upload | undefined) => Promise<T>,
): Promise<T> {
  if (!multipart) return write(undefined);
  const announced: number[] = [];
  try {
    const { query } = database;
    const upload = await receiveUpload(multipart, { ...target, query, storage, limitBytes: maxUploadBytes }, announced);
    return await write(upload);
  } catch (error) {
    if (announced.length > 0) await dropAnnounced(database.query, announced).then(removals.wake, () => {});
    throw error;
  }
}
