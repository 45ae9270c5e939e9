import { randomUUID } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { messageOf } from '@recordbus/errors';
import { CommandFailure } from '@recordbus/stack-calls';

/** Writes a file completely or not at all. Throws CommandFailure when it cannot be written. */
export async function writeFileAtomically(file: string, content: string): Promise<void> {
  const draft = `${file}.${randomUUID()}`;
  try {
    await writeFile(draft, content, { flush: true });
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw new CommandFailure(`${file} cannot be written: ${messageOf(error)}.`);
  }
}
