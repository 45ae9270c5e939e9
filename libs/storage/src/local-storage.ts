import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, link, mkdir, open, readdir, rm, rmdir, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { type FileKey, fileKey, isSegment, previewedName, previewMark } from './file-key.ts';
import { createFlushFolder } from './flush-folders.ts';
import type { Storage, StoredPreview } from './storage.ts';
import { hasCode, unlessMissing } from './unless-missing.ts';

/** No key leads into the folder of drafts: a segment of a key has no leading dot. */
const draftsFolder = '.drafts';

/** A stalled connection is cut after a minute, so no process writes to a draft of this age. */
const staleDraftMs = 3600 * 1000;

/** How often puts look for drafts of processes that were killed, at most, in milliseconds. */
const cleaningMs = 600_000;

/** The mode keeps other users of the machine from listing the names of files. */
const folderOptions = { recursive: true, mode: 0o700 };

/** Keeps files below a directory, `<collection id>/<record id>/<name>`; creates the directory when it is missing. */
export async function openLocalStorage(directory: string): Promise<Storage> {
  const drafts = join(directory, draftsFolder);
  await mkdir(drafts, folderOptions);
  await removeStaleDrafts(drafts);
  const cleanSometimes = createCleaning(drafts);
  const pathOf = ({ segments }: FileKey) => join(directory, ...segments);
  const flushFolder = createFlushFolder();
  /** The folders of collections that are durable. Their ids are never used again. */
  const durable = new Set<string>();

  /** Flushes the folders in which the name of a file and those of its folders are. */
  async function flushNames(path: string): Promise<void> {
    const ofRecord = dirname(path);
    const ofCollection = dirname(ofRecord);
    const isNew = !durable.has(ofCollection);
    await Promise.all([ofRecord, ofCollection, ...(isNew ? [directory] : [])].map(flushFolder));
    durable.add(ofCollection);
  }

  return {
    async put(key, bytes, { announced } = {}) {
      cleanSometimes();
      const path = pathOf(key);
      const draft = join(drafts, `${draftPrefixOf(key)}${randomUUID()}`);
      // It may fail while the bytes are still coming.
      announced?.catch(() => {});
      try {
        const file = await open(draft, 'wx', 0o600);
        try {
          const sizeBytes = await writeAll(file, bytes);
          // Nobody reads an announced file before its commit, so its bytes may reach the disk together with its name.
          await (announced ?? file.sync());
          await settle(draft, path);
          await orRemove(path, [announced && file.sync(), flushNames(path), removeDraft(draft)]);
          return { sizeBytes };
        } finally {
          await file.close();
        }
      } catch (error) {
        await removeDraft(draft);
        throw error;
      }
    },
    async find(key) {
      const found = await unlessMissing(stat(pathOf(key)));
      return found?.isFile() ? { sizeBytes: found.size } : undefined;
    },
    async open(key, range) {
      const file = await unlessMissing<FileHandle>(open(pathOf(key), 'r'));
      return file?.createReadStream(range);
    },
    async delete(key) {
      const path = pathOf(key);
      await rm(path, { force: true });
      await removeAll(dirname(path), `${key.segments[2]}${previewMark}`);
      // Drafts of a process that was killed while it wrote.
      await removeAll(drafts, draftPrefixOf(key));
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

/** Links a finished draft to its name. Its folder may be removed as empty between its creation and its use. */
async function settle(draft: string, path: string): Promise<void> {
  for (let left = 3; ; left -= 1) {
    await mkdir(dirname(path), folderOptions);
    try {
      // Unlike a rename, a link never replaces an existing file.
      await link(draft, path);
      break;
    } catch (error) {
      if (!hasCode(error, 'ENOENT') || left === 0) throw error;
    }
  }
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

/** Creates a function that removes stale drafts in the background, unless it did so recently. */
function createCleaning(drafts: string): () => void {
  let cleanedAtMs = performance.now();
  return () => {
    if (performance.now() - cleanedAtMs < cleaningMs) return;
    cleanedAtMs = performance.now();
    // The next one tries again.
    removeStaleDrafts(drafts).catch(() => {});
  };
}

/** Removes drafts of processes that were killed while they wrote; active drafts are younger. */
async function removeStaleDrafts(drafts: string): Promise<void> {
  for (const name of await readdir(drafts)) {
    const path = join(drafts, name);
    const found = await unlessMissing(stat(path));
    if (found && Date.now() - found.mtimeMs > staleDraftMs) await rm(path, { force: true });
  }
}

async function foldersIn(path: string): Promise<string[]> {
  const entries = (await unlessMissing(readdir(path, { withFileTypes: true }))) ?? [];
  return entries.filter((entry) => entry.isDirectory() && isSegment(entry.name)).map(({ name }) => name);
}

/**
 * Returns the common prefix of the drafts of a file and its previews: a hash, since names may have the maximal length.
 */
function draftPrefixOf({ segments: [collectionId, recordId, name] }: FileKey): string {
  const [file] = name.split(previewMark);
  return `${createHash('sha256').update(`${collectionId}/${recordId}/${file}`).digest('hex')}.`;
}

/** How many bytes are written at once. Each call of the system costs more than copying a piece of a stream. */
const bytesAtOnce = 256 * 1024;

/** Writes the bytes of a stream, at the pace of the disk. Returns their number. */
async function writeAll(file: FileHandle, bytes: Readable): Promise<number> {
  let sizeBytes = 0;
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  const write = async (): Promise<void> => {
    await file.writeFile(pending.length === 1 && pending[0] ? pending[0] : Buffer.concat(pending));
    sizeBytes += pendingBytes;
    [pending, pendingBytes] = [[], 0];
  };
  for await (const chunk of bytes) {
    const part = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    pending.push(part);
    pendingBytes += part.length;
    if (pendingBytes >= bytesAtOnce) await write();
  }
  if (pendingBytes > 0) await write();
  return sizeBytes;
}

/** Removes a file that may be gone. */
const removeDraft = (path: string): Promise<void> => unlessMissing(unlink(path));

/** Waits for the last steps of a put. When one fails, there is no such file. */
async function orRemove(path: string, steps: readonly (Promise<unknown> | undefined)[]): Promise<void> {
  try {
    await Promise.all(steps);
  } catch (error) {
    await Promise.allSettled(steps);
    await rm(path, { force: true });
    throw error;
  }
}
