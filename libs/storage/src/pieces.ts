import { writeBuffers, writeBytes } from './file-calls.ts';
import type { Bytes } from './storage.ts';

/** How many bytes are written at once. A system call costs more than buffering a stream's piece. */
export const bytesAtOnce = 256 * 1024;

/** Some of a file's bytes. */
export interface Piece {
  readonly chunks: readonly Buffer[];
  readonly sizeBytes: number;
  /** Whether no more follow. */
  readonly isLast: boolean;
}

/** Whether all a file's bytes are at hand. */
export const isWhole = (bytes: Bytes): bytes is readonly Buffer[] => Array.isArray(bytes);

/** All a file's bytes as one piece. */
export const pieceOf = (chunks: readonly Buffer[]): Piece => ({
  chunks,
  sizeBytes: chunks.reduce((sum, { length }) => sum + length, 0),
  isLast: true,
});

/** Gathers bytes in pieces that are worth a system call. The last piece may be empty. */
export async function* inPieces(bytes: Bytes): AsyncGenerator<Piece, void> {
  let chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const read of bytes) {
    const chunk = typeof read === 'string' ? Buffer.from(read) : read;
    chunks.push(chunk);
    sizeBytes += chunk.length;
    if (sizeBytes < bytesAtOnce) continue;
    yield { chunks, sizeBytes, isLast: false };
    [chunks, sizeBytes] = [[], 0];
  }
  yield { chunks, sizeBytes, isLast: true };
}

/** Adds a piece to a file. */
export async function writePiece(file: number, { chunks, sizeBytes }: Piece): Promise<void> {
  if (sizeBytes === 0) return;
  const { bytesWritten } = await writeBuffers(file, chunks);
  // A full disk may take only a part. The next call then fails with the reason.
  if (bytesWritten < sizeBytes) await writeBytes(file, Buffer.concat(chunks).subarray(bytesWritten));
}
