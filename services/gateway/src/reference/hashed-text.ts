import { createHash, type Hash } from 'node:crypto';
import { inSlices } from '@recordbus/limits/time-slice';

/** A text's bytes and its ETag. */
export interface HashedText {
  readonly bytes: Buffer;
  /** The text's hash. */
  readonly etag: string;
}

const tagOf = (hash: Hash): string => `"${hash.digest('base64url').slice(0, 27)}"`;

/** Encodes and joins a text's parts in time slices, since with many collections it has many megabytes. */
export async function joinParts(parts: Iterable<string>): Promise<HashedText> {
  const hash = createHash('sha256');
  const chunks: Buffer[] = [];
  for await (const part of inSlices(parts)) {
    const chunk = Buffer.from(part);
    hash.update(chunk);
    chunks.push(chunk);
  }
  return { bytes: Buffer.concat(chunks), etag: tagOf(hash) };
}

/** Writes a value as `JSON.stringify` does, the members in the outer `levels` one by one. */
export function* jsonParts(value: unknown, levels: number): Generator<string> {
  if (levels === 0 || typeof value !== 'object' || value === null || Array.isArray(value)) {
    yield JSON.stringify(value);
    return;
  }
  let separator = '{';
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    yield `${separator}${JSON.stringify(name)}:`;
    yield* jsonParts(member, levels - 1);
    separator = ',';
  }
  yield separator === '{' ? '{}' : '}';
}
