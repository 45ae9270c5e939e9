/** A receiver's answer is kept up to this many bytes (webhooks §3.4). */
export const maxResponseBytes = 2048;

/**
 * Decodes an answer's captured bytes to text that PostgreSQL accepts: invalid UTF-8 and NUL become U+FFFD, and the
 * text is cut to 2,048 bytes between characters.
 */
export function responseText(bytes: Uint8Array): string {
  // With `stream`, a character that the capture cut in two is omitted instead of replaced.
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true }).replaceAll('\0', '\ufffd');
  return cutToBytes(text, maxResponseBytes);
}

/** Cuts a text between characters to at most `limitBytes` in UTF-8. */
export function cutToBytes(text: string, limitBytes: number): string {
  const target = new Uint8Array(limitBytes);
  const { read } = new TextEncoder().encodeInto(text, target);
  return text.slice(0, read);
}
