import { statfs } from 'node:fs/promises';
import { variable, wholeNumber } from '@recordbus/shared/config';

/** operation §9.6. A setting would bound nobody: an admin may change it. */
export const backupsMaxBytes = variable(
  'SERVICE_BACKUPS_MAX_BYTES',
  'Bytes that the archives of backups through the API may have together. Default: half of the disk that is free or theirs; no limit in an S3-compatible store.',
  wholeNumber(1, 2 ** 50).optional(),
);

/** Returns the default of a directory: half of what its disk has free or these archives take. */
export async function halfOfDisk(directory: string, keptBytes: number): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return Math.floor((bavail * bsize + keptBytes) / 2);
}

/** An archive that takes more room than there is for it. */
export class OutOfRoom extends Error {
  constructor(roomBytes: number) {
    super(
      `it has more than the ${roomBytes} bytes that ${backupsMaxBytes.name} leaves: delete an archive, or raise it`,
    );
  }
}
