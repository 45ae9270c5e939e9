import { type FileHandle, open, readdir, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { draftPrefixOf, openDrafts } from './drafts.ts';
import { fileKey, isSegment, previewedName, previewMark } from './file-key.ts';
import { pathOf } from './local-paths.ts';
import { createPutFile } from './put-file.ts';
import type { Storage, StoredPreview } from './storage.ts';
import { hasCode, unlessMissing } from './unless-missing.ts';

/** Keeps files below a directory, `<collection id>/<record id>/<name>`; creates the directory when it is missing. */
export async function openLocalStorage(directory: string): Promise<Storage> {
  const drafts = await openDrafts(directory);
  const put = createPutFile(directory, drafts);
  return {
    put,
    async find(key) {
      const found = await unlessMissing(stat(pathOf(directory, key)));
      return found?.isFile() ? { sizeBytes: found.size } : undefined;
    },
    async open(key, range) {
      const file = await unlessMissing<FileHandle>(open(pathOf(directory, key), 'r'));
      return file?.createReadStream(range);
    },
    async delete(key) {
      const path = pathOf(directory, key);
      await rm(path, { force: true });
      await removeAll(dirname(path), `${key.segments[2]}${previewMark}`);
      // Drafts of a process that was killed while it wrote.
      await removeAll(drafts.folder, draftPrefixOf(key));
      await removeIfEmpty(dirname(path));
    },
    listPreviews: () => listPreviews(directory),
    async deleteRecord(collectionId, recordId, kept = new Set()) {
      if (!isSegment(collectionId) || !isSegment(recordId)) return;
      const folder = join(directory, collectionId, recordId);
      for (const name of (await unlessMissing(readdir(folder))) ?? [])
        if (!kept.has(name)) await rm(join(folder, name), { force: true });
      await removeIfEmpty(folder);
    },
    async deleteCollection(collectionId) {
      if (isSegment(collectionId)) await rm(join(directory, collectionId), { recursive: true, force: true });
    },
  };
}

async function* listPreviews(directory: string): AsyncGenerator<StoredPreview> {
  for (const collectionId of await foldersIn(directory))
    for (const recordId of await foldersIn(join(directory, collectionId)))
      for (const name of (await unlessMissing(readdir(join(directory, collectionId, recordId)))) ?? []) {
        const key = previewedName(name) === undefined ? undefined : fileKey(collectionId, recordId, name);
        const found = key && (await unlessMissing(stat(join(directory, ...key.segments))));
        if (key && found) yield { key, sizeBytes: found.size };
      }
}

/** Removes the files of a folder whose names begin with `prefix`; a folder that is missing has none. */
async function removeAll(folder: string, prefix: string): Promise<void> {
  for (const name of (await unlessMissing(readdir(folder))) ?? [])
    if (name.startsWith(prefix)) await rm(join(folder, name), { force: true });
}

async function removeIfEmpty(folder: string): Promise<void> {
  try {
    await rmdir(folder);
  } catch (error) {
    if (!hasCode(error, 'ENOTEMPTY', 'EEXIST', 'ENOENT')) throw error;
  }
}

async function foldersIn(path: string): Promise<string[]> {
  const entries = (await unlessMissing(readdir(path, { withFileTypes: true }))) ?? [];
  return entries.filter((entry) => entry.isDirectory() && isSegment(entry.name)).map(({ name }) => name);
}
