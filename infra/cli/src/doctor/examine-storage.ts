import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '@recordbus/errors';
import type { Config } from '@recordbus/process/config';
import { fileKey, openStorage } from '@recordbus/storage';
import type { commandVariables } from '../deployment/variables.ts';
import { broken, type Finding, fine, skipped } from './finding.ts';

/** Examines whether the file store answers. */
export async function examineStorage(config: Config<typeof commandVariables>): Promise<Finding[]> {
  const where = config.storageUrl ?? `the directory uploads in ${config.dataDirectory}`;
  // Opening the storage would create the directory.
  if (config.storageUrl === undefined && !existsSync(join(config.dataDirectory, 'uploads')))
    return [skipped('files', `${where}, which does not exist yet`)];
  const key = fileKey('doctor', 'doctor', randomUUID());
  if (!key) throw new Error('a UUID is not a valid file name');
  try {
    await (await openStorage(config)).find(key);
    return [fine('files', `in ${where}`)];
  } catch (error) {
    const reason = messageOf(error);
    return [
      broken('files', `${where} does not answer: ${reason}`, 'Check the SERVICE_STORAGE_ variables and the store.'),
    ];
  }
}
