/** The header of an array of one dimension (array_send: dimensions, flags, element type, length, lower bound). */
const headerBytes = 20;
const lengthAt = 12;
const elementBytes = 12;

/**
 * Reads the output of PostgreSQL's array_send for a `double precision[]`, from `start` to the end of the bytes. Undefined
 * if it has a null or a number of elements other than `count`.
 */
export function readDoubles(bytes: Buffer, start: number, count: number): Float64Array | undefined {
  const end = start + headerBytes + count * elementBytes;
  if (bytes.length !== end || bytes.readInt32BE(start) !== 1 || bytes.readInt32BE(start + lengthAt) !== count)
    return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const values = new Float64Array(count);
  // The length of each element precedes it.
  for (let index = 0, at = start + headerBytes; index < count; index += 1, at += elementBytes)
    values[index] = view.getFloat64(at + 4);
  return values;
}
