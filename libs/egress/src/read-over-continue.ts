import type { Socket } from 'node:net';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const ZERO = 0x30;
const TWO = 0x32;

/** How an interim answer begins, up to its status's last digit; `?` stands for any byte. */
const INTERIM = Buffer.from('HTTP/1.? 1??');
const ANY = 0x3f;

/** Where a connection is in the answers that it reads. */
type Place = 'status line' | 'interim head' | 'final answer';

/**
 * Lets undici skip an answer 100 (Continue). A receiver may send one that was not requested, and a client must skip it
 * (RFC 9110 §15.2); undici ends the connection, but skips a 102. So a 100 becomes a 102 before undici sees it. Only the
 * beginning of an answer is looked at: after a request was written, and after another interim answer.
 */
export function readOverContinue(socket: Socket): void {
  const answers = new AnswerReader();
  const read = socket.read;
  const write = socket.write;
  socket.read = (size) => {
    const chunk: unknown = read.call(socket, size);
    if (Buffer.isBuffer(chunk)) answers.pass(chunk);
    return chunk;
  };
  // One request at a time uses a connection, so what is written begins a request or belongs to the last one.
  socket.write = (...parts: unknown[]): boolean => {
    answers.expectAnswer();
    return Reflect.apply(write, socket, parts);
  };
}

class AnswerReader {
  #place: Place = 'status line';
  /** The status line's bytes so far. */
  #matched = 0;
  /** Whether the status's second digit is 0. */
  #isTen = false;
  /** Whether the current line in an interim head is empty so far. */
  #isLineEmpty = false;

  expectAnswer(): void {
    if (this.#place === 'final answer') this.#beginLine();
  }

  /** Changes the status in each interim answer 100 within the chunk. */
  pass(chunk: Buffer): void {
    for (let at = 0; at < chunk.length && this.#place !== 'final answer'; at += 1) {
      const byte = chunk[at] ?? 0;
      if (this.#place === 'interim head') this.#passHead(byte);
      else if (this.#passLine(byte)) chunk[at] = TWO;
    }
  }

  #beginLine(): void {
    this.#place = 'status line';
    this.#matched = 0;
  }

  /** Reads a byte in the status line. Returns whether it is a 100's last digit. */
  #passLine(byte: number): boolean {
    // Parsers skip empty lines before an answer.
    if (this.#matched === 0 && (byte === CARRIAGE_RETURN || byte === LINE_FEED)) return false;
    const wanted = INTERIM[this.#matched];
    if (wanted !== ANY && wanted !== byte) {
      this.#place = 'final answer';
      return false;
    }
    this.#matched += 1;
    if (this.#matched === INTERIM.length - 1) this.#isTen = byte === ZERO;
    if (this.#matched < INTERIM.length) return false;
    this.#place = 'interim head';
    this.#isLineEmpty = false;
    return this.#isTen && byte === ZERO;
  }

  #passHead(byte: number): void {
    if (byte === LINE_FEED && this.#isLineEmpty) this.#beginLine();
    else if (byte === LINE_FEED) this.#isLineEmpty = true;
    else if (byte !== CARRIAGE_RETURN) this.#isLineEmpty = false;
  }
}
