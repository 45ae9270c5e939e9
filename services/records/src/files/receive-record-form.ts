import type { Database } from '@recordbus/database';
import type { RouteInput } from '@recordbus/http';
import type { Collection } from '@recordbus/schema';
import type { Storage } from '@recordbus/storage';
import type { AnnouncedFiles } from './announced-files.ts';
import { awaitRemoval } from './pending-removal.ts';
import { receiveUpload } from './receive-upload.ts';
import type { Removals } from './removals.ts';
import type { Upload } from './upload-parts.ts';

/** What uploads depend on. */
export interface UploadDeps {
  readonly database: Pick<Database, 'query' | 'write'>;
  readonly storage: Storage;
  readonly removals: Pick<Removals, 'wake'>;
  /** Largest multipart body. */
  readonly maxUploadBytes: number;
}

/** The record that a form is for. `isNew` says that the server has just made its id. */
interface FormTarget {
  readonly collection: Collection;
  readonly recordId: string;
  readonly isNew?: true;
}

/** Receives a record's form; undefined for a body that is not a form. */
export async function receiveRecordForm(
  { multipart }: Pick<RouteInput<unknown, unknown, unknown>, 'multipart'>,
  { collection, recordId, isNew }: FormTarget,
  announced: AnnouncedFiles,
  { database, storage, removals, maxUploadBytes: limitBytes }: UploadDeps,
): Promise<Upload | undefined> {
  if (!multipart) return undefined;
  const removal = isNew ? {} : { awaitRemoval: () => awaitRemoval(database.query, removals, collection, recordId) };
  return receiveUpload(multipart, { collection, recordId, storage, limitBytes, announced, ...removal });
}
