import { malformed } from '@recordbus/errors';
import { decodeText, readParameters } from './header-parameters.ts';

/** A form part's head. */
export interface PartHead {
  readonly name: string;
  /** Without folders. A part with a file name is a file. */
  readonly filename: string | undefined;
  readonly isFile: boolean;
  /** The content type, in lower case and without parameters. */
  readonly type: string;
  /** A text's charset. */
  readonly charset: string;
}

const maxHeaders = 50;
const maxNameBytes = 255;

/**
 * Reads a part's header lines (RFC 7578 §4), without the empty line after them. `ordinal` counts the parts from 1, for
 * the message about a part without a name. Throws 400 for lines that are not headers, for bytes that are not UTF-8, and
 * for a part that is not form-data with a name up to 255 bytes long.
 */
export function readPartHead(bytes: Uint8Array, ordinal: number): PartHead {
  const which = `form part ${ordinal}`;
  const headers = readHeaders(bytes, which);
  const disposition = headers.get('content-disposition');
  if (disposition === undefined) throw malformed(`${which} has no Content-Disposition; write form-data; name="…"`);
  const { value, parameters } = readParameters(disposition);
  if (value.toLowerCase() !== 'form-data')
    throw malformed(`${which} has a Content-Disposition other than form-data; write form-data; name="…"`);
  const name = parameters.get('name');
  if (name === undefined) throw malformed(`${which} has no name: write form-data; name="…"`);
  if (Buffer.byteLength(name) > maxNameBytes) throw malformed(`${which} has a name longer than ${maxNameBytes} bytes`);
  const type = readParameters(headers.get('content-type') ?? 'text/plain');
  const filename = parameters.get('filename*') ?? asSent(parameters.get('filename'));
  return {
    name,
    filename: filename?.slice(Math.max(filename.lastIndexOf('/'), filename.lastIndexOf('\\')) + 1),
    isFile: filename !== undefined || type.value.toLowerCase() === 'application/octet-stream',
    type: type.value.toLowerCase(),
    charset: type.parameters.get('charset') ?? 'utf-8',
  };
}

/** What browsers and curl write for a quote and for line breaks in a file name (HTML §4.10.21.8). */
const escaped = /%(?:22|0D|0A)/gi;

const asSent = (filename: string | undefined): string | undefined => filename?.replace(escaped, decodeURIComponent);

/** Decodes a part's text. Throws 400 naming the part for bytes that its charset lacks. */
export function readPartText(bytes: Uint8Array, { name, charset }: PartHead): string {
  const text = decodeText(bytes, charset);
  if (text !== undefined) return text;
  const message = /^utf-?8$/i.test(charset) ? 'is not valid UTF-8' : 'is not valid text in its charset';
  throw malformed(`the part ${name} ${message}`, { [name]: message });
}

/** Returns the headers by their names in lower case. */
function readHeaders(bytes: Uint8Array, which: string): Map<string, string> {
  const text = decodeText(bytes, 'utf-8');
  if (text === undefined) throw malformed(`${which} has a header that is not valid UTF-8`);
  const headers = new Map<string, string>();
  // A line that begins with a blank continues the one before (RFC 5322 §2.2.3).
  const lines = text === '' ? [] : text.replaceAll(/\r\n(?=[ \t])/g, '').split('\r\n');
  if (lines.length > maxHeaders) throw malformed(`${which} has more than ${maxHeaders} headers`);
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon < 1) throw malformed(`${which} has a header line without a name and a colon`);
    if (/[\r\n\0]/.test(line)) throw malformed(`${which} has a header with a line break or NUL in it`);
    const name = line.slice(0, colon).toLowerCase();
    if (headers.has(name)) throw malformed(`${which} has a header twice`);
    headers.set(name, line.slice(colon + 1).trim());
  }
  return headers;
}
