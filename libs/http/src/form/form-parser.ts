import { malformed } from '@recordbus/errors';
import { readParameters } from './header-parameters.ts';
import { type PartHead, readPartHead } from './part-head.ts';

/** Takes what a parser finds, in the body's order. What it throws ends the parsing. */
export interface PartHandler {
  begin(head: PartHead): void;
  /** A piece of the current part, which shares the memory of the chunk. */
  data(bytes: Buffer): void;
  end(): void;
}

/** Reads a form as it arrives. */
export interface FormParser {
  write(chunk: Buffer): void;
  /** Throws 400 for a form without its end. */
  end(): void;
}

/** A file's name may have any length: what is stored is a short form. Browsers send less than a kilobyte. */
const maxHeadBytes = 80 * 1024;
/** A head up to this length is searched with each of its pieces. */
const usualHeadBytes = 8 * 1024;
/** Blanks after a boundary on its line (RFC 2046 §5.1.1). */
const maxPaddingBytes = 64;

/** RFC 2046 §5.1.1 says 70. */
const maxBoundaryLength = 200;

/** Returns the boundary in a content type; undefined if it has none that is usable. */
export function boundaryOf(contentType: string): string | undefined {
  const boundary = readParameters(contentType).parameters.get('boundary') ?? '';
  return boundary === '' || boundary.length > maxBoundaryLength ? undefined : boundary;
}

const newline = Buffer.from('\r\n');
const headEnd = Buffer.from('\r\n\r\n');
const carriageReturn = 0x0d;

type State = 'preamble' | 'boundary' | 'head' | 'body' | 'epilogue';

/**
 * Creates the parser for a `multipart/form-data` body (RFC 7578). It calls the handler while `write` and `end` run, so
 * its caller gets all errors: the handler's, and 400 for a body that is not a form.
 */
export function createFormParser(boundary: string, handler: PartHandler): FormParser {
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
  let state: State = 'preamble';
  let parts = 0;
  // The first boundary may be at the beginning of the body.
  let held: Buffer = newline;
  /** The bytes behind the held ones. */
  let waiting: Buffer[] = [];
  let waitingBytes = 0;

  /** Each takes as many bytes as it can, and returns how many; undefined when it needs more. */
  const steps: Readonly<Record<State, (bytes: Buffer) => number | undefined>> = {
    preamble: (bytes) => readUntilDelimiter(bytes),
    boundary(bytes) {
      if (bytes.length < 2) return undefined;
      if (bytes.toString('latin1', 0, 2) === '--') {
        state = 'epilogue';
        return 2;
      }
      const end = bytes.indexOf(newline);
      const padding = bytes.subarray(0, end < 0 ? -1 : end);
      if (padding.length > maxPaddingBytes || padding.some((byte) => byte !== 0x20 && byte !== 0x09))
        throw malformed('the form has a boundary with other text behind it');
      if (end < 0) return undefined;
      state = 'head';
      // The line break stays, since a head may be empty.
      return end;
    },
    head(bytes) {
      const end = bytes.indexOf(headEnd);
      if ((end < 0 ? bytes.length : end) > maxHeadBytes)
        throw malformed(`form part ${parts + 1} has headers longer than ${maxHeadBytes} bytes`);
      const bodyAt = end + headEnd.length;
      if (end < 0 || bytes.length < bodyAt + delimiter.length) return undefined;
      parts += 1;
      if (
        bytes
          .subarray(bodyAt - newline.length)
          .subarray(0, delimiter.length)
          .equals(delimiter)
      )
        throw malformed(`form part ${parts} ends with its headers`);
      handler.begin(readPartHead(bytes.subarray(newline.length, end), parts));
      state = 'body';
      return bodyAt;
    },
    body: (bytes) => readUntilDelimiter(bytes, handler),
    epilogue: (bytes) => bytes.length,
  };

  function readUntilDelimiter(bytes: Buffer, part?: PartHandler): number | undefined {
    const at = bytes.indexOf(delimiter);
    const length = at < 0 ? bytes.length - tailLength(bytes, delimiter) : at;
    if (length > 0) part?.data(bytes.subarray(0, length));
    if (at < 0) return length || undefined;
    part?.end();
    state = 'boundary';
    return at + delimiter.length;
  }

  function readWaiting(): void {
    const [first] = waiting;
    let rest = held.length === 0 && first && waiting.length === 1 ? first : Buffer.concat([held, ...waiting]);
    waiting = [];
    waitingBytes = 0;
    while (rest.length > 0) {
      const taken = steps[state](rest);
      if (taken === undefined) break;
      rest = rest.subarray(taken);
    }
    held = rest;
  }

  return {
    write(chunk) {
      waiting.push(chunk);
      waitingBytes += chunk.length;
      // A longer head is searched again when it has doubled, so the work grows with its length only.
      if (state !== 'head' || held.length < usualHeadBytes || waitingBytes >= held.length) readWaiting();
    },
    end() {
      readWaiting();
      if (state !== 'epilogue') throw malformed('the form is incomplete: its last boundary is missing');
    },
  };
}

/** Returns how many bytes at the end may begin the delimiter, which has one carriage return. */
function tailLength(bytes: Buffer, delimiter: Buffer): number {
  const at = bytes.lastIndexOf(carriageReturn);
  const length = at < 0 ? 0 : bytes.length - at;
  return length < delimiter.length && delimiter.subarray(0, length).equals(bytes.subarray(bytes.length - length))
    ? length
    : 0;
}
