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

/** A message's type byte and length (PostgreSQL manual, "Message Formats"). */
const headerBytes = 5;
/** The length includes itself. */
const minLength = 4;

/** The server messages that the driver knows, by type byte. */
const knownTypes = new Set(Buffer.from('123ACDEGHIKNRSTWZcdnst'));
const dataRow = 'D'.charCodeAt(0);
const readyForQuery = 'Z'.charCodeAt(0);

/** Checks a server's bytes before the driver reads them. */
export interface AnswerFrames {
  /** How many of these bytes the driver may read: fewer than all once the answer is broken. */
  accept(chunk: Buffer): number;
  /** What is wrong with the bytes that were not accepted. */
  readonly problem: BrokenAnswerError | undefined;
}

/**
 * Follows one connection's messages. The driver trusts the length in a message and buffers all of it, and a text longer
 * than 512 MiB ends the process. This check finds malformed messages, and rows that together are larger than
 * `maxAnswerBytes`, before their bytes are buffered.
 */
export function createAnswerFrames(maxAnswerBytes: number): AnswerFrames {
  const header = Buffer.alloc(headerBytes);
  let headerFilled = 0;
  let bodyLeft = 0;
  let rowBytes = 0;
  let problem: BrokenAnswerError | undefined;

  function readHeader(bytes: Buffer, at: number): void {
    const type = bytes[at] ?? 0;
    const length = bytes.readUInt32BE(at + 1);
    if (!knownTypes.has(type) || length < minLength) {
      problem = new BrokenAnswerError('the database sent a message outside the protocol');
      return;
    }
    if (type === readyForQuery) rowBytes = 0;
    if (type === dataRow) rowBytes += length;
    if (rowBytes > maxAnswerBytes || length > maxAnswerBytes)
      problem = new BrokenAnswerError(`the database answer has more than ${maxAnswerBytes} bytes`, {
        isTooLarge: true,
      });
    bodyLeft = length - minLength;
    headerFilled = 0;
  }

  return {
    accept(chunk) {
      let at = 0;
      while (at < chunk.length && !problem) {
        if (bodyLeft > 0) {
          const skipped = Math.min(bodyLeft, chunk.length - at);
          bodyLeft -= skipped;
          at += skipped;
          continue;
        }
        const start = at;
        if (headerFilled === 0 && chunk.length - at >= headerBytes) {
          readHeader(chunk, at);
          if (problem) return start;
          at += headerBytes;
          continue;
        }
        const wanted = Math.min(headerBytes - headerFilled, chunk.length - at);
        chunk.copy(header, headerFilled, at, at + wanted);
        headerFilled += wanted;
        at += wanted;
        if (headerFilled === headerBytes) readHeader(header, 0);
        if (problem) return start;
      }
      return at;
    },
    get problem() {
      return problem;
    },
  };
}
