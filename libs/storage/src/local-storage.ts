import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { type FileHandle, link, mkdir, open, readdir, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type FileKey, isSegment, previewMark } from './file-key.ts';
import type { Storage } from './storage.ts';

/** Drafts stand where no key leads: a segment of a key has no leading dot. */
const draftsFolder = '.drafts';

/** Names of files are said to nobody else on the machine either. */
const folderOptions = { recursive: true, mode: 0o700 };

/** Keeps files under a directory, `<collection id>/<record id>/<name>`, which is made when it is not there. */
export async function openLocalStorage(directory: string): Promise<Storage> {
  const drafts = join(directory, draftsFolder);
  await mkdir(drafts, folderOptions);
  const pathOf = ({ segments }: FileKey) => join(directory, ...segments);

  /** Moves a finished draft to its name. The folder may be removed as empty between making and using it. */
  async function settle(draft: string, path: string): Promise<void> {
    for (let left = 3; ; left -= 1) {
      await mkdir(dirname(path), folderOptions);
      try {
        // Unlike a rename, a link never replaces a file that is there.
        await link(draft, path);
        break;
      } catch (error) {
        if (!hasCode(error, 'ENOENT') || left === 0) throw error;
      }
    }
    for (const folder of [dirname(path), dirname(dirname(path)), directory]) await flushFolder(folder);
  }

  return {
    async put(key, bytes) {
      const draft = join(drafts, `${draftPrefixOf(key)}${randomUUID()}`);
      const file = createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true });
      try {
        await pipeline(bytes, file);
        await settle(draft, pathOf(key));
      } finally {
        await rm(draft, { force: true });
      }
      return { sizeBytes: file.bytesWritten };
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
      const previews = `${key.segments[2]}${previewMark}`;
      for (const name of (await unlessMissing(readdir(dirname(path)))) ?? [])
        if (name.startsWith(previews)) await rm(join(dirname(path), name), { force: true });
      // What a process left that was killed while it wrote.
      const prefix = draftPrefixOf(key);
      for (const name of await readdir(drafts))
        if (name.startsWith(prefix)) await rm(join(drafts, name), { force: true });
      try {
        await rmdir(dirname(path));
      } catch (error) {
        if (!hasCode(error, 'ENOTEMPTY', 'EEXIST', 'ENOENT')) throw error;
      }
    },
    async deleteRecord(collectionId, recordId) {
      if (!isSegment(collectionId) || !isSegment(recordId)) return;
      await rm(join(directory, collectionId, recordId), { recursive: true, force: true });
    },
    async deleteCollection(collectionId) {
      if (isSegment(collectionId)) await rm(join(directory, collectionId), { recursive: true, force: true });
    },
  };
}

/** Drafts of a file and of its previews begin alike; a hash, for the names of both may be as long as names can be. */
function draftPrefixOf({ segments: [collectionId, recordId, name] }: FileKey): string {
  const [file] = name.split(previewMark);
  return `${createHash('sha256').update(`${collectionId}/${recordId}/${file}`).digest('hex')}.`;
}

/** A name in a folder is only durable once the folder is (fsync(2)). */
async function flushFolder(path: string): Promise<void> {
  const folder = await unlessMissing(open(path, 'r'));
  try {
    await folder?.sync();
  } finally {
    await folder?.close();
  }
}

async function unlessMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

const hasCode = (error: unknown, ...codes: string[]) =>
  error instanceof Error && 'code' in error && codes.some((code) => error.code === code);
