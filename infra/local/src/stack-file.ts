import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunningStack } from './running-stack.ts';

export interface StackFile {
  remove(): Promise<void>;
}

/**
 * Leaves `stack.json` in the data directory, so that tools on this machine find the running stack. Only its owner can
 * read it: it carries the set-up token while there is one.
 */
export async function writeStackFile(dataDirectory: string, { url, setupToken }: RunningStack): Promise<StackFile> {
  const file = join(dataDirectory, 'stack.json');
  const draft = `${file}.new`;
  await writeFile(draft, `${JSON.stringify({ url, pid: process.pid, setupToken })}\n`, { mode: 0o600 });
  await rename(draft, file);
  return { remove: () => rm(file, { force: true }) };
}
