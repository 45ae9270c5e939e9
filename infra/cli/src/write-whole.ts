import { randomUUID } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { CommandFailure } from './failure.ts';

/** Writes a file whole or not at all. Throws a sentence when it can't be written. */
export async function writeWhole(file: string, content: string): Promise<void> {
  const draft = `${file}.${randomUUID()}`;
  try {
    await writeFile(draft, content, { flush: true });
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw new CommandFailure(`${file} can't be written: ${error instanceof Error ? error.message : error}.`);
  }
}
