import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Config } from '@recordbus/process/config';
import { openLocalStorage, openStorage, type Storage, type storageVariables } from '@recordbus/storage';

/**
 * The files during a restore. Keys are written once, so old files and the archive's stay side by side until the
 * commit's outcome is known. An interrupted restore may leave files that no record names, but never a record without
 * its file.
 */
export interface RestoredUploads {
  /** Receives the archive's files. Services do not read from it. */
  readonly storage: Storage;
  /** Adds them to the files that services read. */
  publish(): Promise<void>;
  /** Removes the published files that were new. */
  undo(): Promise<void>;
  /** Removes old files that the archive does not have. */
  removeObsolete(): Promise<void>;
}

/** Opens the upload storage for a restore. Removes leftovers from an unfinished restore. */
export async function openRestoredUploads(config: Config<typeof storageVariables>): Promise<RestoredUploads> {
  const nothing = async (): Promise<void> => {};
  // An S3-compatible store already has the files, and may hold other deployments' files.
  if (config.storageUrl !== undefined)
    return { storage: await openStorage(config), publish: nothing, undo: nothing, removeObsolete: nothing };
  const uploadsDirectory = join(config.dataDirectory, 'uploads');
  const restoringDirectory = `${uploadsDirectory}.restoring`;
  const remove = (path: string): Promise<void> => rm(path, { recursive: true, force: true });
  await remove(restoringDirectory);
  const added: string[] = [];
  return {
    storage: await openLocalStorage(restoringDirectory),
    async publish() {
      await mkdir(uploadsDirectory, { recursive: true });
      for await (const file of listFiles(restoringDirectory)) {
        const path = join(uploadsDirectory, file);
        if (!existsSync(path)) added.push(path);
        // An existing file with the same name may be damaged, so it is replaced.
        const draft = join(restoringDirectory, `${randomUUID()}.link`);
        await link(join(restoringDirectory, file), draft);
        await mkdir(dirname(path), { recursive: true });
        await rename(draft, path);
      }
    },
    async undo() {
      for (const path of added) await rm(path, { force: true });
      await remove(restoringDirectory);
    },
    async removeObsolete() {
      for await (const file of listFiles(uploadsDirectory))
        if (!existsSync(join(restoringDirectory, file))) await rm(join(uploadsDirectory, file), { force: true });
      await remove(restoringDirectory);
    },
  };
}

/** Yields the record files below a directory, as `<collection id>/<record id>/<name>`, without drafts. */
async function* listFiles(directory: string): AsyncGenerator<string> {
  for (const collectionId of await listFolders(directory))
    for (const recordId of await listFolders(join(directory, collectionId)))
      for (const name of await readdir(join(directory, collectionId, recordId)))
        yield join(collectionId, recordId, name);
}

async function listFolders(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.')).map(({ name }) => name);
}
