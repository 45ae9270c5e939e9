import { existsSync } from 'node:fs';
import { keyFileOf } from '@recordbus/crypto';
import type { Config } from '@recordbus/shared/config';
import { readSecretFile } from '@recordbus/shared/secret-file';
import { openStorage, type Storage, type storageVariables } from '@recordbus/storage';
import { secretFileOf } from '@recordbus/tokens';

/** What backups need of a deployment besides its services. */
export interface BackupPlace {
  /** A backup needs a session of its own. */
  readonly databaseUrl: string;
  /** The store of the archives, which is not that of uploaded files: a restore replaces those. */
  readonly archives: Storage;
  /** Whether uploaded files are in the data directory, and so in a backup. */
  readonly holdsFiles: boolean;
  /** Reads the secret file and the key file, as far as the deployment uses them. */
  readSecrets(): { readonly secret: Uint8Array | undefined; readonly key: string | undefined };
}

interface Given {
  readonly databaseUrl: string;
  readonly secret: Uint8Array;
  readonly encryptionKey: string | undefined;
}

/** Opens the place of backups: `backups` in the data directory, or below the prefix of the S3-compatible store. */
export async function openBackupPlace(
  config: Config<typeof storageVariables>,
  { databaseUrl, secret, encryptionKey }: Given,
): Promise<BackupPlace> {
  const { dataDirectory } = config;
  // A file with another text than the one in use belongs to nothing.
  const read = (path: string, used: string | undefined): string | undefined =>
    used !== undefined && existsSync(path) && readSecretFile(path) === used ? used : undefined;
  return {
    databaseUrl,
    archives: await openStorage(config, 'backups'),
    holdsFiles: config.storageUrl === undefined,
    readSecrets: () => ({
      secret: read(secretFileOf(dataDirectory), Buffer.from(secret).toString()) === undefined ? undefined : secret,
      key: read(keyFileOf(dataDirectory), encryptionKey),
    }),
  };
}
