import type { Config } from '@recordbus/shared/config';
import { openStorage, type Storage, type storageVariables } from '@recordbus/storage';

/** What backups need of a deployment besides its services. */
export interface BackupPlace {
  /** A backup needs a session of its own. */
  readonly databaseUrl: string;
  /** The store of the archives, which is not that of uploaded files: a restore replaces those. */
  readonly archives: Storage;
  /** Whether uploaded files are in the data directory, and so in a backup. */
  readonly holdsFiles: boolean;
}

/** Opens the place of backups: `backups` in the data directory, or below the prefix of the S3-compatible store. */
export const openBackupPlace = async (
  config: Config<typeof storageVariables>,
  databaseUrl: string,
): Promise<BackupPlace> => ({
  databaseUrl,
  archives: await openStorage(config, 'backups'),
  holdsFiles: config.storageUrl === undefined,
});
