import { randomUUID } from 'node:crypto';
import { type FileHandle, link, mkdir, open, rm, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Drafts, draftPrefixOf } from './drafts.ts';
import type { FileKey } from './file-key.ts';
import { createFlushFolder } from './flush-folders.ts';
import { folderOptions, pathOf } from './local-paths.ts';
import { inPieces, type Piece, writePiece } from './pieces.ts';
import type { Bytes, Storage } from './storage.ts';
import { hasCode, unlessMissing } from './unless-missing.ts';

/** The mode keeps other users of the machine from reading files. */
const fileMode = 0o600;

/** The beginning of an announced file (see `Storage.put`), whose first piece has been read. */
interface AnnouncedStart {
  readonly first: Piece | undefined;
  readonly announced: Promise<unknown>;
}

/** Creates the `put` of a directory. */
export function createPutFile(directory: string, drafts: Drafts): Storage['put'] {
  const flushFolder = createFlushFolder();
  /** The folders of collections that are durable. Their ids are never used again. */
  const durable = new Set<string>();

  /** Flushes the folders that hold the name of a file and the names of its folders. */
  async function flushNames(path: string): Promise<void> {
    const ofRecord = dirname(path);
    const ofCollection = dirname(ofRecord);
    const isNew = !durable.has(ofCollection);
    await Promise.all([ofRecord, ofCollection, ...(isNew ? [directory] : [])].map(flushFolder));
    durable.add(ofCollection);
  }

  /** Writes an announced file under its name. A crash may leave a part of it, which its announcement removes. */
  async function putWhole(path: string, piece: Piece): Promise<number> {
    const file = await inFolderOf(path, () => open(path, 'wx', fileMode));
    try {
      await writePiece(file, piece);
      await Promise.all([file.sync(), flushNames(path)]);
      return piece.sizeBytes;
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    } finally {
      await file.close();
    }
  }

  /** Writes a draft, and links it to the name of the file. */
  async function putDraft(key: FileKey, pieces: AsyncIterable<Piece>, start?: AnnouncedStart): Promise<number> {
    drafts.cleanSometimes();
    const path = pathOf(directory, key);
    const draft = join(drafts.folder, `${draftPrefixOf(key)}${randomUUID()}`);
    try {
      const file = await open(draft, 'wx', fileMode);
      try {
        const sizeBytes = await writeAll(file, pieces, start?.first);
        // Nobody reads an announced file before its commit, so its bytes may reach the disk together with its name.
        await (start ? start.announced : file.sync());
        // Unlike a rename, a link never replaces an existing file.
        await inFolderOf(path, () => link(draft, path));
        await orRemove(path, [start && file.sync(), flushNames(path), removeDraft(draft)]);
        return sizeBytes;
      } finally {
        await file.close();
      }
    } catch (error) {
      await removeDraft(draft);
      throw error;
    }
  }

  async function putAnnounced(key: FileKey, bytes: Bytes, announced: Promise<unknown>): Promise<number> {
    // The announcement may fail while the bytes are still arriving.
    announced.catch(() => {});
    const pieces = inPieces(bytes);
    const { value: first = undefined } = await pieces.next();
    if (!first?.isLast) return putDraft(key, pieces, { first, announced });
    await announced;
    return putWhole(pathOf(directory, key), first);
  }

  return async (key, bytes, { announced } = {}) => {
    const sizeBytes = await (announced ? putAnnounced(key, bytes, announced) : putDraft(key, inPieces(bytes)));
    return { sizeBytes };
  };
}

/** Writes the pieces of a file, at the pace of the disk. Returns their bytes. */
async function writeAll(file: FileHandle, pieces: AsyncIterable<Piece>, first: Piece | undefined): Promise<number> {
  if (first) await writePiece(file, first);
  let sizeBytes = first?.sizeBytes ?? 0;
  for await (const piece of pieces) {
    await writePiece(file, piece);
    sizeBytes += piece.sizeBytes;
  }
  return sizeBytes;
}

/** Creates a name in a folder, even if the empty folder is removed between its creation and its use. */
async function inFolderOf<T>(path: string, create: () => Promise<T>): Promise<T> {
  for (let left = 3; ; left -= 1) {
    await mkdir(dirname(path), folderOptions);
    try {
      return await create();
    } catch (error) {
      if (!hasCode(error, 'ENOENT') || left === 0) throw error;
    }
  }
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
