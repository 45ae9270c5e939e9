import { type FileHandle, open, opendir, readdir, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode, unlessMissing } from '@recordbus/process/system-error';
import { draftPrefixOf, openDrafts } from './drafts.ts';
import { type FileKey, fileKey, isSegment, previewedName, previewMark } from './file-key.ts';
import { nameIn, type Place, pathsOf, placesOfFile, placesOfRecord, readEntry, sharesFolders } from './local-paths.ts';
import { createPutFile } from './put-file.ts';
import type { Storage, StoredPreview } from './storage.ts';

/** Keeps files below a directory, in its collections' folders; creates the directory when it is missing. */
export async function openLocalStorage(directory: string): Promise<Storage> {
  const drafts = await openDrafts(directory);
  const put = createPutFile(directory, drafts);
  return {
    put,
    async find(key) {
      for (const path of pathsOf(directory, key)) {
        const found = await unlessMissing(stat(path));
        if (found?.isFile()) return { sizeBytes: found.size };
      }
      return undefined;
    },
    async open(key, range) {
      for (const path of pathsOf(directory, key)) {
        const file = await unlessMissing<FileHandle>(open(path, 'r'));
        if (file) return file.createReadStream(range);
      }
      return undefined;
    },
    async delete(key) {
      const name = key.segments[2];
      const isOfFile = (found: string) => found === name || found.startsWith(`${name}${previewMark}`);
      for (const place of placesOfFile(directory, key)) await removeFrom(place, isOfFile);
      // Drafts from a process that was killed while it wrote.
      const draftPrefix = draftPrefixOf(key);
      await removeAll(drafts.folder, (draft) => draft.startsWith(draftPrefix));
    },
    list: (collectionId, idsStart) => listFiles(directory, collectionId, idsStart),
    listPreviews: () => listPreviews(directory),
    async deleteRecord(collectionId, recordId, kept = new Set()) {
      for (const place of placesOfRecord(directory, collectionId, recordId))
        await removeFrom(place, (name) => !kept.has(name));
    },
    async deleteCollection(collectionId) {
      if (isSegment(collectionId)) await rm(join(directory, collectionId), { recursive: true, force: true });
    },
  };
}

async function* listFiles(directory: string, collectionId: string, idsStart: string): AsyncGenerator<FileKey> {
  if (!isSegment(collectionId)) return;
  const ofCollection = join(directory, collectionId);
  const folders = sharesFolders(collectionId) ? [idsStart] : await foldersIn(ofCollection);
  for (const folderName of folders)
    for await (const entry of entriesIn(join(ofCollection, folderName))) {
      const { recordId, name } = readEntry(folderName, entry);
      const key = previewedName(name) === undefined ? fileKey(collectionId, recordId, name) : undefined;
      if (key && recordId.startsWith(idsStart)) yield key;
    }
}

async function* listPreviews(directory: string): AsyncGenerator<StoredPreview> {
  for (const collectionId of await foldersIn(directory))
    for (const folderName of await foldersIn(join(directory, collectionId))) {
      const folder = join(directory, collectionId, folderName);
      for await (const entry of entriesIn(folder)) {
        const { recordId, name } = readEntry(folderName, entry);
        const key = previewedName(name) === undefined ? undefined : fileKey(collectionId, recordId, name);
        const found = key && (await unlessMissing(stat(join(folder, entry))));
        if (key && found) yield { key, sizeBytes: found.size };
      }
    }
}

/** Removes a record's files by name, and their folder when it is empty then. */
async function removeFrom(place: Place, isRemoved: (name: string) => boolean): Promise<void> {
  await removeAll(place.folder, (entry) => {
    const name = nameIn(place, entry);
    return name !== undefined && isRemoved(name);
  });
  await removeIfEmpty(place.folder);
}

async function removeAll(folder: string, isRemoved: (entry: string) => boolean): Promise<void> {
  for await (const entry of entriesIn(folder)) if (isRemoved(entry)) await rm(join(folder, entry), { force: true });
}

/** The names in a folder, which may have any number; none when it is missing. */
async function* entriesIn(folder: string): AsyncGenerator<string> {
  const entries = await unlessMissing(opendir(folder, { bufferSize: 1000 }));
  for await (const { name } of entries ?? []) yield name;
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
