import { randomUUID } from 'node:crypto';
import { link, rm, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasCode, unlessMissing } from '@recordbus/process/system-error';
import { type Drafts, draftPrefixOf } from './drafts.ts';
import { flushFile, makeFolder, openFile, thenClose } from './file-calls.ts';
import type { FileKey } from './file-key.ts';
import { createFlushFolder } from './flush-folders.ts';
import { folderOptions, newPathOf } from './local-paths.ts';
import { inPieces, isWhole, type Piece, pieceOf, writePiece } from './pieces.ts';
import type { Bytes, Storage } from './storage.ts';

/** The mode keeps the machine's other users from reading files. */
const fileMode = 0o600;

/** How many folders may be known to have durable names. */
const maxNamed = 100;

/** An announced file's beginning (see `Storage.put`), whose first piece has been read. */
interface AnnouncedStart {
  readonly first: Piece | undefined;
  readonly announced: Promise<unknown>;
}

/** Creates a directory's `put`. */
export function createPutFile(directory: string, drafts: Drafts): Storage['put'] {
  const flushFolder = createFlushFolder();
  /** The collections' folders that are durable. Their ids are never used again. */
  const durable = new Set<string>();
  /** The folders whose names are durable, by their paths; the latest ones. */
  const named = new Map<string, string>();

  /** Flushes the folders that hold a file's name and its folders' names. */
  async function flushNames(path: string): Promise<void> {
    const folder = dirname(path);
    const ofCollection = dirname(folder);
    const flushParents = () =>
      Promise.all([ofCollection, ...(durable.has(ofCollection) ? [] : [directory])].map(flushFolder));
    const isKnown = named.has(folder);
    const [identity] = await Promise.all([flushFolder(folder), !isKnown && flushParents()]);
    // Another process may have removed the folder while it was empty, and created it again.
    if (isKnown && (identity === undefined || identity !== named.get(folder))) await flushParents();
    durable.add(ofCollection);
    if (identity !== named.get(folder)) note(folder, identity);
  }

  function note(folder: string, identity: string | undefined): void {
    named.delete(folder);
    if (identity !== undefined) named.set(folder, identity);
    if (named.size > maxNamed) named.delete(named.keys().next().value ?? '');
  }

  /** Writes an announced file under its name. A crash may leave a part, which its announcement removes. */
  async function putWhole(path: string, piece: Piece): Promise<number> {
    const file = await inFolderOf(path, () => openFile(path, 'wx', fileMode));
    await thenClose(file, () =>
      orRemove(path, async () => {
        await writePiece(file, piece);
        await settleAll([flushFile(file), flushNames(path)]);
      }),
    );
    return piece.sizeBytes;
  }

  /** Writes a draft, and links it to the file's name. */
  async function putDraft(key: FileKey, pieces: AsyncIterable<Piece>, start?: AnnouncedStart): Promise<number> {
    drafts.cleanSometimes();
    const path = newPathOf(directory, key);
    const draft = join(drafts.folder, `${draftPrefixOf(key)}${randomUUID()}`);
    try {
      const file = await openFile(draft, 'wx', fileMode);
      return await thenClose(file, async () => {
        const sizeBytes = await writeAll(file, pieces, start?.first);
        // Nobody reads an announced file before its commit, so its bytes may reach the disk together with its name.
        await (start ? start.announced : flushFile(file));
        // Unlike a rename, a link never replaces an existing file.
        await inFolderOf(path, () => link(draft, path));
        await orRemove(path, () => settleAll([start && flushFile(file), flushNames(path), removeDraft(draft)]));
        return sizeBytes;
      });
    } catch (error) {
      await removeDraft(draft);
      throw error;
    }
  }

  async function putAnnounced(key: FileKey, bytes: Bytes, announced: Promise<unknown>): Promise<number> {
    // The announcement may fail while the bytes are still arriving.
    announced.catch(() => {});
    const pieces = inPieces(bytes);
    const first = isWhole(bytes) ? pieceOf(bytes) : (await pieces.next()).value || undefined;
    if (!first?.isLast) return putDraft(key, pieces, { first, announced });
    await announced;
    return putWhole(newPathOf(directory, key), first);
  }

  return async (key, bytes, { announced } = {}) => {
    const sizeBytes = await (announced ? putAnnounced(key, bytes, announced) : putDraft(key, inPieces(bytes)));
    return { sizeBytes };
  };
}

/** Writes a file's pieces, at the disk's pace. Returns how many bytes. */
async function writeAll(file: number, pieces: AsyncIterable<Piece>, first: Piece | undefined): Promise<number> {
  if (first) await writePiece(file, first);
  let sizeBytes = first?.sizeBytes ?? 0;
  for await (const piece of pieces) {
    await writePiece(file, piece);
    sizeBytes += piece.sizeBytes;
  }
  return sizeBytes;
}

/** Creates a name in a folder, and the folder if it is missing. Another process may remove an empty folder at any time. */
async function inFolderOf<T>(path: string, create: () => Promise<T>): Promise<T> {
  for (let left = 4; ; left -= 1) {
    try {
      return await create();
    } catch (error) {
      if (!hasCode(error, 'ENOENT') || left === 0) throw error;
    }
    await makeFolder(dirname(path), folderOptions);
  }
}

/** Removes a file that may be gone. */
const removeDraft = (path: string): Promise<void> => unlessMissing(unlink(path));

/** Runs a put's last steps. When they fail, there is no such file. */
async function orRemove(path: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

/** Waits until all steps have ended, even when one fails. Then throws its error. */
async function settleAll(steps: readonly (Promise<unknown> | undefined)[]): Promise<void> {
  await Promise.allSettled(steps);
  await Promise.all(steps);
}
