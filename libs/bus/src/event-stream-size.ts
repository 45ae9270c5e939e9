import { readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { variable, wholeNumber } from '@recordbus/process/config';

const gibibyte = 1024 ** 3;
export const minDefaultBytes = gibibyte;
const maxDefaultBytes = 50 * gibibyte;

export const eventStreamMaxBytes = variable(
  'SERVICE_EVENTS_MAX_BYTES',
  'Size in bytes up to which the event stream may grow. Default: a fifth of the free disk, 1 GiB to 50 GiB, less on a small disk; see operations.md.',
  wholeNumber(1024 ** 2, 2 ** 50).optional(),
);

/** What a default size has on the smallest disk. */
const leastBytes = 64 * 1024 ** 2;

/**
 * Returns the stream's default size: a fifth of the free bytes, at least 1 GiB and at most 50 GiB; on a small disk half
 * of the free bytes, if that is less.
 */
export function shareOfFree(freeBytes: number): number {
  const least = Math.max(leastBytes, Math.min(minDefaultBytes, Math.floor(freeBytes / 2)));
  return Math.min(maxDefaultBytes, Math.max(least, Math.floor(freeBytes / 5)));
}

/**
 * Returns the default size for a stream that is stored in this directory on this machine. The directory's own bytes
 * count as free, so that a restart does not shrink a stream because it has grown.
 */
export async function defaultSizeOnDisk(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return shareOfFree(bavail * bsize + (await bytesIn(directory)));
}

async function bytesIn(directory: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    // The server may have removed the file meanwhile.
    const found = await stat(join(entry.parentPath, entry.name)).catch(() => undefined);
    bytes += found?.size ?? 0;
  }
  return bytes;
}
