/** The bytes that a batch brings, with its references' values. */
export interface GivenBytes {
  /** Sets one operation's bytes, and returns the bytes in all. An operation may be read several times. */
  add(index: number, bytes: number): number;
}

/** Counts a batch's bytes, which begin with its operations' bytes as they were sent. */
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
