import { randomUUID } from 'node:crypto';
import type { Sending } from './client.ts';

/** A form part: a file when it has a file name. */
export interface Part {
  readonly name: string;
  readonly filename?: string;
  readonly type?: string;
  readonly content: string | Uint8Array;
}

/** Returns the part with a file for a field. */
export const file = (name: string, filename: string, content: string | Uint8Array, type = 'text/plain'): Part => ({
  name,
  filename,
  content,
  type,
});

/** Returns a form's body and headers as a browser sends it (RFC 7578), with its parts for the client. */
export function multipart(...parts: readonly Part[]): Required<Pick<Sending, 'rawBody' | 'headers' | 'form'>> {
  const boundary = `----${randomUUID()}`;
  const chunks = parts.flatMap(({ name, filename, type, content }) => [
    Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${filename === undefined ? '' : `; filename="${filename}"`}\r\n${type === undefined ? '' : `Content-Type: ${type}\r\n`}\r\n`,
    ),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ]);
  return {
    form: parts,
    rawBody: Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)]),
    headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
  };
}
