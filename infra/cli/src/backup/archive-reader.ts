import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { checksumsEntry, createHashing } from '@recordbus/backup';
import { extract } from 'tar-stream';
import { z } from 'zod';
import { CommandFailure } from '../failure.ts';

/** An archive entry. Read it to its end before the next one. */
export interface ArchiveEntry {
  readonly name: string;
  readonly stream: Readable;
  /** The whole entry as text. */
  text(): Promise<string>;
}

const checksumsDocument = z.record(z.string(), z.string());

/**
 * Yields an archive's entries in order, then compares the bytes with the archive's checksums. Throws CommandFailure for
 * a truncated or damaged archive.
 */
export async function* readArchive(input: Readable): AsyncGenerator<ArchiveEntry> {
  const archive = extract();
  const reading = pipeline(input, createGunzip(), archive);
  reading.catch(() => {});
  const seen: Record<string, string> = {};
  let expected: Record<string, string> | undefined;
  try {
    for await (const entry of archive) {
      const { name } = entry.header;
      const { stream, digest } = createHashing();
      const passing = pipeline(entry, stream);
      passing.catch(() => {});
      if (name === checksumsEntry) {
        expected = checksumsDocument.parse(JSON.parse((await buffer(stream)).toString()));
        continue;
      }
      yield { name, stream, text: async () => (await buffer(stream)).toString() };
      if (!stream.readableEnded) for await (const _rest of stream);
      await passing;
      seen[name] = digest();
    }
    await reading;
  } catch (error) {
    if (error instanceof CommandFailure || !isDamage(error)) throw error;
    throw new CommandFailure(`This is not an archive, or a damaged one: ${error.message}.`);
  }
  if (!expected) throw new CommandFailure('The archive is incomplete: its end is missing.');
  const names = new Set([...Object.keys(expected), ...Object.keys(seen)]);
  for (const name of names)
    if (expected[name] !== seen[name])
      throw new CommandFailure(`The archive is damaged: ${name} does not match its checksum.`);
}

/** Whether zlib, the tar reader or the checksum reader threw because the bytes are not an archive. */
const isDamage = (error: unknown): error is Error =>
  error instanceof SyntaxError ||
  error instanceof z.ZodError ||
  (error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')) ||
  (error instanceof Error && /Unexpected end of data|Invalid tar header|Premature close/.test(error.message));
