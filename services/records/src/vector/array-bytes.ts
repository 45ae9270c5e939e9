/** Of the header of an array of one dimension (array_send: dimensions, flags, element type, length, lower bound). */
const headerBytes = 20;
const lengthAt = 12;
const elementBytes = 12;

/**
 * Reads what PostgreSQL's array_send makes of a `double precision[]`, at `start` of the bytes; undefined when it has
 * another number of elements than asked for, or a null among them.
 */
export function readDoubles(bytes: Buffer, start: number, count: number): Float64Array | undefined {
  const end = start + headerBytes + count * elementBytes;
  if (bytes.length !== end || bytes.readInt32BE(start) !== 1 || bytes.readInt32BE(start + lengthAt) !== count)
    return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const values = new Float64Array(count);
  // Each element has its length before it.
  for (let index = 0, at = start + headerBytes; index < count; index += 1, at += elementBytes)
    values[index] = view.getFloat64(at + 4);
  return values;
}
