/** A header's value and its parameters. */
interface Parameters {
  readonly value: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** Reads `value; name=text; name="text"`. When two parameters have one name, the first counts. */
export function readParameters(header: string): Parameters {
  const parameters = new Map<string, string>();
  const add = (name: string, text: string): void => {
    const key = name.trim().toLowerCase();
    const decoded = key.endsWith('*') ? decodeExtended(text) : text;
    if (decoded !== undefined && !parameters.has(key)) parameters.set(key, decoded);
  };
  let at = endOf(header, ';', 0);
  const value = header.slice(0, at).trim();
  let equals = -1;
  while (at < header.length) {
    // Looked for once, so that the time for a header that is all semicolons grows with its length only.
    if (equals < at) equals = endOf(header, '=', at);
    const nameEnd = Math.min(equals, endOf(header, ';', at + 1));
    if (nameEnd < equals || equals === header.length) {
      at = nameEnd;
      continue;
    }
    const begin = equals + 1 + blanksAt(header, equals + 1);
    const quoted = header[begin] === '"' ? readQuoted(header, begin + 1) : undefined;
    const end = endOf(header, ';', quoted?.end ?? begin);
    add(header.slice(at + 1, equals), quoted?.text ?? header.slice(begin, end).trim());
    at = end;
  }
  return { value, parameters };
}

/** Returns the mark's position from there on, or the end's. */
function endOf(text: string, mark: string, from: number): number {
  const at = text.indexOf(mark, from);
  return at < 0 ? text.length : at;
}

function blanksAt(text: string, from: number): number {
  let at = from;
  while (text[at] === ' ' || text[at] === '\t') at += 1;
  return at - from;
}

/** A backslash escapes a quote and itself. Some browsers send it unescaped in paths. */
function readQuoted(header: string, from: number): { readonly text: string; readonly end: number } | undefined {
  let text = '';
  for (let at = from; at < header.length; at += 1) {
    if (header[at] === '"') return { text, end: at + 1 };
    if (header[at] === '\\' && (header[at + 1] === '"' || header[at + 1] === '\\')) at += 1;
    text += header[at];
  }
  return undefined;
}

/** Decodes `charset'language'%xx` (RFC 8187 §3.2); undefined for a value that is not valid. */
function decodeExtended(value: string): string | undefined {
  const [charset = '', , ...encoded] = value.split("'");
  const byteOf = (_: string, hex: string): string => String.fromCharCode(Number.parseInt(hex, 16));
  const bytes = encoded.join("'").replaceAll(/%([0-9a-f]{2})/gi, byteOf);
  return charset === '' ? undefined : decodeText(Buffer.from(bytes, 'latin1'), charset);
}

/** Returns undefined for bytes that are not text in the charset, and for a charset that does not exist. */
export function decodeText(bytes: Uint8Array, charset: string): string | undefined {
  try {
    return new TextDecoder(charset, { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
