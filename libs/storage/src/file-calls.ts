/**
 * The file calls for uploads. They take an open file's number: a `FileHandle`, and each `node:fs` promise, consists of
 * several objects, and an upload makes many calls.
 */
import { close, closeSync, fsync, mkdir, open, writeFile, writev } from 'node:fs';
import { promisify } from 'node:util';

/** Opens a file, and returns its number. */
export const openFile = promisify<string, string, number, number>(open);

/** Creates a folder and its parents, unless they exist. */
export const makeFolder: (path: string, options: { recursive: true; mode: number }) => Promise<unknown> =
  promisify(mkdir);

/** Waits until a file's bytes, or the names in a folder, are on the disk. */
export const flushFile = promisify(fsync);

/** Writes buffers at the current position; a full disk may take only some. */
export const writeBuffers: (file: number, buffers: readonly Buffer[]) => Promise<{ readonly bytesWritten: number }> =
  promisify(writev);

/** Writes all bytes at the current position. */
export const writeBytes: (file: number, bytes: Buffer) => Promise<void> = promisify(writeFile);

const closeFile = promisify(close);

/** Runs work whose last step flushes a file, and then closes the file. Nothing may use it afterwards. */
export async function thenClose<T>(file: number, work: () => Promise<T>): Promise<T> {
  let result: T;
  try {
    result = await work();
  } catch (error) {
    await closeFile(file);
    throw error;
  }
  // A flushed file has nothing left to write, so its close waits for no disk.
  closeSync(file);
  return result;
}
