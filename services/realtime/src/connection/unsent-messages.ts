/** Counts the messages whose last byte has not left the process. */
export class UnsentMessages {
  /** The ends of the messages that may be unsent, as numbers of bytes since the connection began. */
  #ends: number[] = [];
  #first = 0;
  #sent = 0;

  /**
   * Adds a message of a size; `unsentBytes` is the number of unsent bytes after it. Returns the number of unsent
   * messages.
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
