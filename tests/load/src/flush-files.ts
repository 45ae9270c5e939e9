import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Flushes the machine's files to its disks, so that a round does not pay for what the one before it left in memory.
 * Does nothing without a `sync` command.
 */
export async function flushFiles(): Promise<void> {
  await run('sync').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
}
