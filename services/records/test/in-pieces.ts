/** Splits bytes into pieces with these sizes, in turn: even within a character. */
export async function* piecesOf(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  let at = 0;
  for (let n = 0; at < bytes.length; n += 1) {
    const size = sizes[n % sizes.length] ?? 1;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

/** Returns everything that is read. */
export async function all<T>(reading: AsyncIterable<T>): Promise<T[]> {
  const read: T[] = [];
  for await (const one of reading) read.push(one);
  return read;
}
