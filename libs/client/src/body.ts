import { invalidArgument } from './error.ts';

/** A body to send. */
export interface Body {
  readonly content: string | Blob;
  readonly type: string;
}

type Values = Readonly<Record<string, unknown>>;

const isFile = (value: unknown): value is Blob => value instanceof Blob;
const hasFile = (value: unknown): boolean => isFile(value) || (Array.isArray(value) && value.some(isFile));

/** A request's body: JSON, or a form if some value is a file. */
export const bodyOf = (values: unknown): Body =>
  Object.values(Object(values)).some(hasFile) ? formOf(partsOf(values as Values)) : jsonOf(values);

const jsonOf = (values: unknown): Body => ({ content: jsonText(values), type: 'application/json' });

/** Returns values as JSON. Throws for circular values and large integers. */
export function jsonText(values: unknown): string {
  try {
    return JSON.stringify(values);
  } catch (cause) {
    throw invalidArgument('These values cannot be sent as JSON.', cause);
  }
}

/** A form part: its name, and a text or a file. */
export type Part = readonly [name: string, value: string | Blob];

/**
 * A form's parts: all values without files as JSON in `_json`, each file, and the names of stored files to keep (files
 * §3).
 */
function partsOf(values: Values): Part[] {
  const entries = Object.entries(values);
  const plain = entries.filter(([, value]) => !hasFile(value));
  const files = entries.flatMap(([name, value]): Part[] => {
    if (isFile(value)) return [[name, value]];
    // Other lists are in the JSON already.
    if (!Array.isArray(value) || !hasFile(value)) return [];
    const kept = value.filter((item) => !isFile(item));
    const added = value.filter(isFile).map((file): Part => [name, file]);
    return kept.length > 0 ? [[name, jsonText(kept)], ...added] : added;
  });
  return [['_json', jsonText(Object.fromEntries(plain))], ...files];
}

/**
 * Writes a form (RFC 7578). Files are read when they are sent, so a file on disk needs no memory. The boundary is in
 * lower case because `Blob` lowers its type's case.
 */
export function formOf(parts: readonly Part[]): Body {
  const boundary = `form-${Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(36)).join('')}`;
  const type = `multipart/form-data; boundary=${boundary}`;
  const chunks = parts.flatMap(([name, value]): (string | Blob)[] => [
    `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"`,
    typeof value === 'string'
      ? '\r\n\r\n'
      : `; filename="${quoted(nameOf(value))}"\r\nContent-Type: ${value.type || 'application/octet-stream'}\r\n\r\n`,
    value,
    '\r\n',
  ]);
  return { content: new Blob([...chunks, `--${boundary}--\r\n`], { type }), type };
}

const nameOf = (file: Blob): string => ('name' in file && typeof file.name === 'string' ? file.name : 'file');

/** Escapes a name within quotes, as the HTML standard says. */
const quoted = (name: string): string => name.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22');
