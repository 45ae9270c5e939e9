/** An answer that the driver cannot read, or that is too large for a process. The statement fails and its connection closes. */
export class BrokenAnswerError extends Error {
  /** Whether the answer is too large for a process. */
  readonly isTooLarge: boolean;

  constructor(message: string, { isTooLarge = false, cause }: { isTooLarge?: boolean; cause?: unknown } = {}) {
    super(message, { cause });
    this.name = 'BrokenAnswerError';
    this.isTooLarge = isTooLarge;
  }
}
