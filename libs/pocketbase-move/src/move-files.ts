import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { AppError } from '@recordbus/errors';
import { sendRequest, whenFree } from '@recordbus/stack-calls';
import type { Move } from './move-in.ts';
import type { OrderedCollection } from './order-collections.ts';
import { type MovedCollection, maxListed } from './report.ts';
import type { NotedFile } from './state.ts';

/** How many files are on their way at once. */
const together = 6;

/** Sends the files that the records name and the stack does not have yet. */
export async function sendFiles(move: Move, { collection }: OrderedCollection, moved: MovedCollection): Promise<void> {
  const { state, progress } = move;
  const files = [...state.waitingFiles(collection.from.name)];
  let next = 0;
  const startedMs = performance.now();
  const work = async () => {
    for (let file = files[next++]; file; file = files[next++]) {
      const bytes = await sendFile(move, collection.from.id, collection.to.name, file);
      if (bytes === undefined) {
        noteMissing(moved, file);
        continue;
      }
      state.noteFile(collection.from.name, file);
      moved.files += 1;
      moved.file_bytes += bytes;
      const perSec = moved.files / Math.max((performance.now() - startedMs) / 1000, 0.001);
      const left = Math.ceil((files.length - moved.files) / perSec);
      progress.show(
        `${collection.to.name}: ${moved.files} of ${files.length} files, ${(moved.file_bytes / 2 ** 20).toFixed(1)} MiB, ${Math.round(perSec)} files/s, ${left} s left`,
        moved.files / files.length,
      );
    }
  };
  await Promise.all(Array.from({ length: together }, work));
}

/** Counts the files that a run would send. Those in a bucket are not looked up, so none is missing there. */
export async function foreseeFiles(
  { state, storedFiles }: Move,
  { collection: { from } }: OrderedCollection,
  moved: MovedCollection,
): Promise<void> {
  for (const file of state.unsentFiles(from.name)) {
    const isNamed = [from.id, file.record, file.source].every(isPlain);
    const size = isNamed ? await storedFiles.measure(from.id, file.record, file.source) : undefined;
    if (size === undefined) noteMissing(moved, file);
    else {
      moved.files += 1;
      moved.file_bytes += size;
    }
  }
}

function noteMissing(moved: MovedCollection, { record, source }: NotedFile): void {
  if (moved.missing_files.length < maxListed) moved.missing_files.push(`${record}/${source}`);
  moved.files_missing += 1;
}

/** A name that leads to no other folder. */
const isPlain = (name: string): boolean => !/[/\\\0]/.test(name) && name !== '.' && name !== '..' && name !== '';

/** A file up to this size is read once, into memory. */
const smallBytes = 256 * 1024;

/** Sends a file. Returns its size; undefined when PocketBase's directory lacks it, or the record no longer names it. */
async function sendFile(
  { storedFiles, address, terminal }: Move,
  folder: string,
  collection: string,
  { record, source: original, name }: NotedFile,
): Promise<number | undefined> {
  if (![folder, record, original].every(isPlain)) return undefined;
  const file = await storedFiles.open(folder, record, original);
  if (!file) return undefined;
  try {
    const { size, digest, body } = await readBody(file);
    const path = `/api/v1/files/${[collection, record, name].map(encodeURIComponent).join('/')}`;
    const headers = { 'content-type': 'application/octet-stream', 'content-digest': `sha-256=:${digest}:` };
    const answer = await whenFree(() => sendRequest(address, { method: 'PUT', path, headers, body: body() }), terminal);
    await answer.body?.cancel();
    return size;
  } catch (error) {
    if (error instanceof AppError && error.status === 404) return undefined;
    throw error;
  } finally {
    await file.close();
  }
}

interface FileBody {
  readonly size: number;
  /** SHA-256 in Base64. */
  readonly digest: string;
  /** Called for each attempt. */
  body(): Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;
}

/** Reads a file's digest, which is sent before its bytes. */
async function readBody(file: FileHandle): Promise<FileBody> {
  const hash = createHash('sha256');
  if ((await file.stat()).size <= smallBytes) {
    const bytes = await file.readFile();
    return { size: bytes.length, digest: hash.update(bytes).digest('base64'), body: () => bytes };
  }
  let size = 0;
  for await (const chunk of file.createReadStream({ start: 0, autoClose: false })) {
    hash.update(chunk);
    size += chunk.length;
  }
  const body = () =>
    Readable.toWeb(file.createReadStream({ start: 0, autoClose: false })) as ReadableStream<Uint8Array>;
  return { size, digest: hash.digest('base64'), body };
}
