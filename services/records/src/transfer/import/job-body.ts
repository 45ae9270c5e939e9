import { AppError } from '@recordbus/errors';
import { type FileKey, fileKey, type Storage } from '@recordbus/storage';
import { inPieces } from '../formats/to-utf8.ts';

/** Where the store has jobs' bodies. No collection id begins with an underscore. */
export const bodiesOf = '_jobs';
export const bodyName = 'body';

/** A body's key. */
export function bodyKey(id: string): FileKey {
  const key = fileKey(bodiesOf, id, bodyName);
  if (!key) throw new Error("a body's id is not a key segment");
  return key;
}

/**
 * Reads a body from a position on. Its file opens with the first read and closes with the last. Throws 410 if it is
 * gone, for example after a backup was restored.
 */
export async function* readBody(
  storage: Storage,
  { id, bytes, position }: { readonly id: string; readonly bytes: number; readonly position: number },
): AsyncGenerator<Buffer> {
  if (position >= bytes) return;
  const stream = await storage.open(bodyKey(id), position === 0 ? undefined : { start: position, end: bytes - 1 });
  if (!stream) throw new AppError(410, 'body_gone', 'the body is no longer in the store');
  yield* inPieces(stream);
}
