/** Counts the messages whose last byte has not left the process. */
export class UnsentMessages {
  /** Where the messages that may be unsent end, in bytes since the connection began. */
  #ends: number[] = [];
  #first = 0;
  #sent = 0;

  /**
   * Adds a message with its size; `unsentBytes` counts the unsent bytes after it. Returns how many messages are unsent.
   */
  add(bytes: number, unsentBytes: number): number {
    this.#sent += bytes;
    if (unsentBytes === 0) {
      this.#ends = [];
      this.#first = 0;
      return 0;
    }
    this.#ends.push(this.#sent);
    const left = this.#sent - unsentBytes;
    while ((this.#ends[this.#first] ?? Number.POSITIVE_INFINITY) <= left) this.#first += 1;
    return this.#ends.length - this.#first;
  }
}
