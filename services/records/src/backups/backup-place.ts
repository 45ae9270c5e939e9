import { join } from 'node:path';
import type { Config } from '@recordbus/process/config';
import { openStorage, type Storage, type storageVariables } from '@recordbus/storage';
import { type backupsMaxBytes, halfOfDisk } from './room.ts';

/** The parts of a deployment, other than its services, that backups need. */
export interface BackupPlace {
  /** For a backup's session. */
  readonly databaseUrl: string;
  /** The archive store, which is not the upload store that a restore replaces. */
  readonly archives: Storage;
  /** Whether uploaded files are in the data directory, and so in a backup. */
  readonly holdsFiles: boolean;
  /** Returns how many bytes all archives together may have, given the bytes of the kept ones. */
  maxBytes(keptBytes: number): Promise<number>;
}

const folder = 'backups';

/** Opens the backup store: `backups` in the data directory, or below the S3-compatible store's prefix. */
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
