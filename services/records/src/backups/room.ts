import { statfs } from 'node:fs/promises';
import { variable, wholeNumber } from '@recordbus/process/config';

/** operation §9.6. It is not a setting, since an admin could change that. */
export const backupsMaxBytes = variable(
  'SERVICE_BACKUPS_MAX_BYTES',
  'Maximum total size for archives made through the API, in bytes. Default: half the disk space that is free or already theirs; no limit in an S3-compatible store.',
  wholeNumber(1, 2 ** 50).optional(),
);

/** Returns the default for a directory: half of the disk space that is free or taken by these archives. */
export async function halfOfDisk(directory: string, keptBytes: number): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return Math.floor((bavail * bsize + keptBytes) / 2);
}

/** Thrown for an archive that exceeds its room. */
export class OutOfRoom extends Error {
  constructor(roomBytes: number) {
    super(
      `it has more than the ${roomBytes} bytes that ${backupsMaxBytes.name} leaves: delete an archive, or raise it`,
    );
  }
}
