/** The header of an array with one dimension (array_send: dimensions, flags, element type, length, lower bound). */
const headerBytes = 20;
const lengthAt = 12;
const elementBytes = 12;

/**
 * Reads what PostgreSQL's array_send writes for a `double precision[]`, from `start` to the last byte. Undefined if it
 * has a null or does not have `count` elements.
 */
export function readDoubles(bytes: Buffer, start: number, count: number): Float64Array | undefined {
  const end = start + headerBytes + count * elementBytes;
  if (bytes.length !== end || bytes.readInt32BE(start) !== 1 || bytes.readInt32BE(start + lengthAt) !== count)
    return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const values = new Float64Array(count);
  // Each element's length precedes it.
  for (let index = 0, at = start + headerBytes; index < count; index += 1, at += elementBytes)
    values[index] = view.getFloat64(at + 4);
  return values;
}
