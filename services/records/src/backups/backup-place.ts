import { join } from 'node:path';
import type { Config } from '@recordbus/shared/config';
import { openStorage, type Storage, type storageVariables } from '@recordbus/storage';
import { type backupsMaxBytes, halfOfDisk } from './room.ts';

/** What backups need of a deployment besides its services. */
export interface BackupPlace {
  /** A backup needs a session of its own. */
  readonly databaseUrl: string;
  /** The store of the archives, which is not that of uploaded files: a restore replaces those. */
  readonly archives: Storage;
  /** Whether uploaded files are in the data directory, and so in a backup. */
  readonly holdsFiles: boolean;
  /** Returns how many bytes all archives may have, while those that are kept have this many. */
  maxBytes(keptBytes: number): Promise<number>;
}

const folder = 'backups';

/** Opens the place of backups: `backups` in the data directory, or below the prefix of the S3-compatible store. */
export const openBackupPlace = async (
  config: Config<typeof storageVariables & { backupsMaxBytes: typeof backupsMaxBytes }>,
  databaseUrl: string,
): Promise<BackupPlace> => ({
  databaseUrl,
  archives: await openStorage(config, folder),
  holdsFiles: config.storageUrl === undefined,
  async maxBytes(keptBytes) {
    if (config.backupsMaxBytes !== undefined) return config.backupsMaxBytes;
    if (config.storageUrl !== undefined) return Number.POSITIVE_INFINITY;
    return halfOfDisk(join(config.dataDirectory, folder), keptBytes);
  },
});
