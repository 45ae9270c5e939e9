import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { CommandFailure, isSystemError } from '@recordbus/stack-calls';
import { openStorage } from '@recordbus/storage';
import type { Source } from './source.ts';

/** Where PocketBase keeps its files. */
export interface StoredFiles {
  /** Opens a file to read; undefined if there is none. The names are plain: none leads elsewhere. */
  open(collectionId: string, record: string, name: string): Promise<FileHandle | undefined>;
  /** A file's size in bytes, 0 where it is not looked up; undefined if there is none. */
  measure(collectionId: string, record: string, name: string): Promise<number | undefined>;
}

/** The files in a data directory. Links to files elsewhere are not followed. */
export const filesInDirectory = ({ storage }: Pick<Source, 'storage'>): StoredFiles => ({
  open: (...names) =>
    findFile(async () => {
      const file = await open(join(storage, ...names), constants.O_RDONLY | constants.O_NOFOLLOW);
      if ((await file.stat()).isFile()) return file;
      await file.close();
      return undefined;
    }),
  measure: (...names) =>
    findFile(async () => {
      const about = await lstat(join(storage, ...names));
      return about.isFile() ? about.size : undefined;
    }),
});

/** Returns undefined where nothing has the name. */
async function findFile<T>(find: () => Promise<T>): Promise<T | undefined> {
  try {
    return await find();
  } catch (error) {
    if (isSystemError(error) && ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG'].includes(error.code ?? ''))
      return undefined;
    throw error;
  }
}

/** The store in PocketBase's settings. */
interface BucketSettings {
  readonly bucket: string;
  readonly region: string;
  readonly endpoint: string;
  readonly accessKey: string;
  readonly secret: string;
}

/** Whether PocketBase keeps its files in a bucket. */
export const keepsFilesInBucket = (source: Pick<Source, 'settings'>): boolean => readSettings(source) !== undefined;

/**
 * The files in the bucket that PocketBase's settings name, read with the credentials there. Each is copied beside the
 * database first, since its digest is sent before its bytes. Throws CommandFailure if there is no bucket, or it cannot be read.
 */
export async function filesInBucket({ settings, aside }: Pick<Source, 'settings' | 'aside'>): Promise<StoredFiles> {
  const known = readSettings({ settings });
  if (!known)
    throw new CommandFailure(
      settings === undefined
        ? "PocketBase's settings are encrypted, and so is the bucket's address: set their key in PB_ENCRYPTION_KEY, or copy the bucket into pb_data/storage and leave out --files."
        : 'PocketBase keeps its files in its directory: leave out --files.',
    );
  const storage = await openStorage({
    dataDirectory: aside,
    storageUrl: `s3://${known.bucket}`,
    storageEndpoint: /^https?:\/\//.test(known.endpoint) ? known.endpoint : `https://${known.endpoint}`,
    storageRegion: known.region,
    storageAccessKey: known.accessKey,
    storageSecretKey: known.secret,
  });
  return {
    async open(...segments) {
      try {
        const found = await storage.open({ segments });
        return found && (await copyAside(found, aside));
      } catch (error) {
        if (isSystemError(error) && error.code === 'ENOSPC') throw error;
        const why = error instanceof Error ? error.message || error.name : String(error);
        throw new CommandFailure(
          `The bucket ${known.bucket} at ${known.endpoint} cannot be read (${why}). The same command continues.`,
        );
      }
    },
    measure: async () => 0,
  };
}

/** The copy has no name any more, so it goes with its handle. */
async function copyAside(bytes: Readable, aside: string): Promise<FileHandle> {
  const path = join(aside, randomUUID());
  const file = await open(path, 'wx+', 0o600);
  try {
    await unlink(path);
    await file.writeFile(bytes);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

function readSettings({ settings }: Pick<Source, 'settings'>): BucketSettings | undefined {
  const s3 = settings?.s3;
  if (typeof s3 !== 'object' || s3 === null || !('enabled' in s3) || s3.enabled !== true) return undefined;
  const textOf = (name: string) => {
    const value: unknown = Object.getOwnPropertyDescriptor(s3, name)?.value;
    return typeof value === 'string' ? value : '';
  };
  return {
    bucket: textOf('bucket'),
    region: textOf('region'),
    endpoint: textOf('endpoint'),
    accessKey: textOf('accessKey'),
    secret: textOf('secret'),
  };
}
