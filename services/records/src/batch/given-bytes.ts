/** The bytes that a batch brings, with the values of its references. */
export interface GivenBytes {
  /** Sets the bytes of one operation, and returns those of all. An operation may be read several times. */
  add(index: number, bytes: number): number;
}

/** Counts the bytes of a batch, which begin with those of its operations as they were sent. */
export function countGivenBytes(sent: readonly number[]): GivenBytes {
  const ofOperations = [...sent];
  let sum = sent.reduce((total, bytes) => total + bytes, 0);
  return {
    add(index, bytes) {
      sum += bytes - (ofOperations[index] ?? 0);
      ofOperations[index] = bytes;
      return sum;
    },
  };
}
