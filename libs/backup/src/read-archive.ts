import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { CommandFailure } from '@recordbus/stack-calls';
import { extract } from 'tar-stream';
import { z } from 'zod';
import { createHashing } from './hashing.ts';
import { checksumsEntry } from './manifest.ts';

/** Thrown for bytes that are not an archive, a damaged one, or one that this version cannot restore. */
export class ArchiveRefused extends CommandFailure {
  override name = 'ArchiveRefused';
}

/** An archive entry. Read it to its end before the next one. */
export interface ArchiveEntry {
  readonly name: string;
  readonly stream: Readable;
  /** The whole entry as text. */
  text(): Promise<string>;
}

/** How much an archive from elsewhere may make its reader do. */
export interface ArchiveLimits {
  readonly maxEntries: number;
  readonly maxUnpackedBytes: number;
}

const noLimits: ArchiveLimits = {
  maxEntries: Number.POSITIVE_INFINITY,
  maxUnpackedBytes: Number.POSITIVE_INFINITY,
};

/** Collection id, record id and file name are shorter together. */
const maxNameLength = 1000;

/** Texts are held in memory: the schema, the checksums. */
const maxTextBytes = 256 * 1024 * 1024;

const checksumsDocument = z.record(z.string(), z.string());

/**
 * Yields an archive's entries in order, then compares the bytes with the archive's checksums. Throws ArchiveRefused for
 * an archive that is truncated, damaged, or beyond the limits.
 */
export async function* readArchive(input: Readable, limits: ArchiveLimits = noLimits): AsyncGenerator<ArchiveEntry> {
  const archive = extract();
  const reading = pipeline(input, createGunzip(), limitBytes(limits), archive);
  reading.catch(() => {});
  let entries = 0;
  const seen: Record<string, string> = {};
  let expected: Record<string, string> | undefined;
  try {
    for await (const entry of archive) {
      const { name } = entry.header;
      entries += 1;
      if (name.length > maxNameLength) throw new ArchiveRefused('The archive is damaged: a name is too long.');
      if (entries > limits.maxEntries) throw new ArchiveRefused(`The archive has over ${limits.maxEntries} entries.`);
      const { stream, digest } = createHashing();
      const passing = pipeline(entry, stream);
      passing.catch(() => {});
      if (name === checksumsEntry) {
        expected = checksumsDocument.parse(JSON.parse(await textOf(name, stream)));
        continue;
      }
      yield { name, stream, text: () => textOf(name, stream) };
      if (!stream.readableEnded) for await (const _rest of stream);
      await passing;
      seen[name] = digest();
    }
    await reading;
  } catch (error) {
    throw refusalOf(error);
  }
  if (!expected) throw new ArchiveRefused('The archive is incomplete: its end is missing.');
  const names = new Set([...Object.keys(expected), ...Object.keys(seen)]);
  for (const name of names)
    if (expected[name] !== seen[name])
      throw new ArchiveRefused(`The archive is damaged: ${name} does not match its checksum.`);
}

/** Returns the refusal for an error that the archive's bytes caused, and any other error itself. */
export const refusalOf = (error: unknown): unknown =>
  !(error instanceof CommandFailure) && isDamage(error)
    ? new ArchiveRefused(`This is not an archive, or a damaged one: ${error.message}.`)
    : error;

/** Refuses an archive that unpacks to far more than it is. */
function limitBytes({ maxUnpackedBytes }: ArchiveLimits): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > maxUnpackedBytes)
        done(new ArchiveRefused(`The archive unpacks to more than the allowed ${maxUnpackedBytes} bytes.`));
      else done(null, chunk);
    },
  });
}

async function textOf(name: string, stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxTextBytes) throw new ArchiveRefused(`The archive is damaged: ${name} is too large.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Whether zlib, the tar reader or the checksum reader threw because the bytes are not an archive. */
const isDamage = (error: unknown): error is Error =>
  error instanceof SyntaxError ||
  error instanceof z.ZodError ||
  (error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')) ||
  (error instanceof Error &&
    /Unexpected end of data|Invalid tar header|Invalid header|Header exceeds max size|Premature close/.test(
      error.message,
    ));
