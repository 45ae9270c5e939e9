import { createWriteStream } from 'node:fs';
import { mkdir, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { isDiskFull, messageOf } from '@recordbus/errors';
import { hasCode } from '@recordbus/process/system-error';
import { CommandFailure, type Progress } from '@recordbus/stack-calls';
import { type Entry, openPromise, type ZipFile } from 'yauzl';

/** What a move reads: the database with its write-ahead log, and the stored files. */
const wanted = /^(data\.db(-wal)?|storage\/[^/]+\/[^/]+\/[^/]+)$/;

/** Where a file's type begins in its Unix mode, and a link's type. */
const typeOf = (entry: Entry): number => (entry.externalFileAttributes >>> 16) & 0xf000;
const link = 0xa000;

const mebibytes = (bytes: number): string => `${Math.ceil(bytes / 2 ** 20)} MiB`;

interface UnpackOptions {
  /** The backup's file. */
  readonly archive: string;
  /** Gets the data directory. */
  readonly directory: string;
  /** How many bytes the files may have together. */
  readonly maxBytes: number;
  readonly progress: Progress;
}

/** Unpacks what a move needs from a PocketBase backup. Throws CommandFailure for another archive, and for a damaged one. */
export async function unpackBackup(options: UnpackOptions): Promise<void> {
  try {
    const bytes = await measure(options);
    await requireRoom(options, bytes);
    await extract(options, bytes);
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    const reason = messageOf(error);
    if (isDiskFull(error))
      throw new CommandFailure('The disk is full: make room in the data directory, and upload the backup again.');
    if (hasCode(error, 'EEXIST'))
      throw new CommandFailure('The backup names a file twice: upload one that PocketBase made.');
    throw new CommandFailure(`The backup cannot be unpacked: ${reason.replace(/\.$/, '')}.`);
  }
}

/** Adds up what the archive says about its files, before a byte is written. */
async function measure({ archive, maxBytes }: UnpackOptions): Promise<number> {
  let bytes = 0;
  let hasDatabase = false;
  let nested: string | undefined;
  await eachEntry(archive, async ({ fileName, uncompressedSize }) => {
    bytes += uncompressedSize;
    hasDatabase ||= fileName === 'data.db';
    if (/^[^/]+\/data\.db$/.test(fileName)) nested = fileName;
    if (bytes > maxBytes)
      throw new CommandFailure(
        `The backup holds more than ${mebibytes(maxBytes)}: raise the setting jobs.max_body_bytes, or use the command line.`,
      );
  });
  if (hasDatabase) return bytes;
  throw new CommandFailure(
    nested === undefined
      ? 'The archive is not a PocketBase backup: it has no data.db. Make a backup in PocketBase, under Settings, Backups.'
      : `The archive is not a PocketBase backup: it has ${nested} instead of data.db. Make a backup in PocketBase, under Settings, Backups.`,
  );
}

async function requireRoom({ directory }: UnpackOptions, bytes: number): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const { bavail, bsize } = await statfs(directory);
  // SQLite's database copy is next to it.
  if (bytes * 2 > bavail * bsize)
    throw new CommandFailure(
      `The backup needs ${mebibytes(bytes * 2)} on the disk with the data directory, which has ${mebibytes(bavail * bsize)} left.`,
    );
}

async function extract({ archive, directory, progress }: UnpackOptions, bytes: number): Promise<void> {
  let done = 0;
  await eachEntry(archive, async (entry, zip) => {
    done += entry.uncompressedSize;
    if (!wanted.test(entry.fileName) || typeOf(entry) === link) return;
    if (entry.isEncrypted())
      throw new CommandFailure('The archive is encrypted: upload a backup as PocketBase makes it, without a password.');
    const path = join(directory, entry.fileName);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const read: (entry: Entry) => Promise<Readable> = promisify(zip.openReadStream.bind(zip));
    await pipeline(await read(entry), createWriteStream(path, { flags: 'wx', mode: 0o600 }));
    progress.show(`unpacking, ${mebibytes(done)} of ${mebibytes(bytes)}`, bytes === 0 ? 1 : done / bytes);
  });
}

/**
 * Visits an archive's entries in order. yauzl refuses names that lead out of the archive, and entries that have other
 * sizes than the archive says.
 */
async function eachEntry(archive: string, visit: (entry: Entry, zip: ZipFile) => Promise<void>): Promise<void> {
  const zip = await openPromise(archive, { lazyEntries: true, autoClose: false, strictFileNames: true }).catch(
    (error: Error) => {
      if (/end of central directory/i.test(error.message))
        throw new CommandFailure(
          'The file is not a zip archive, or its end is missing: upload the backup as PocketBase made it.',
        );
      throw error;
    },
  );
  try {
    await new Promise<void>((resolve, reject) => {
      zip.on('error', reject);
      zip.on('end', resolve);
      zip.on('entry', (entry: Entry) => {
        visit(entry, zip).then(() => zip.readEntry(), reject);
      });
      zip.readEntry();
    });
  } finally {
    zip.close();
  }
}
