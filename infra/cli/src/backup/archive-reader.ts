import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { z } from 'zod';
import { CommandFailure } from '../failure.ts';
import { createHashing } from './hashing.ts';
import { checksumsEntry } from './manifest.ts';

/** One entry, to be read to its end before the next one comes. */
export interface ArchiveEntry {
  readonly name: string;
  readonly stream: Readable;
  /** The whole entry as text. */
  text(): Promise<string>;
}

const checksumsDocument = z.record(z.string(), z.string());

/**
 * Gives the entries of an archive in their order. At the end, before it is over, everything that was read is compared
 * with the archive's checksums: throws a sentence for an archive that was cut off or changed.
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
    throw new CommandFailure(`This is no archive, or a damaged one: ${error.message}.`);
  }
  if (!expected) throw new CommandFailure('The archive is not whole: its end is missing.');
  const names = new Set([...Object.keys(expected), ...Object.keys(seen)]);
  for (const name of names)
    if (expected[name] !== seen[name])
      throw new CommandFailure(`The archive is damaged: ${name} is not what was written.`);
}

/** What zlib, the tar reader and the reader of the checksums throw at bytes that are no archive. */
const isDamage = (error: unknown): error is Error =>
  error instanceof SyntaxError ||
  error instanceof z.ZodError ||
  (error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')) ||
  (error instanceof Error && /Unexpected end of data|Invalid tar header|Premature close/.test(error.message));
