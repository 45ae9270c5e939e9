/**
 * Finds a text or a name with half a surrogate pair in parsed JSON, and returns its dotted path; undefined if there is
 * none. Only escapes (`\\ud800`) can write one, since UTF-8 has none. Such a text is not Unicode: each program that
 * reads it replaces or refuses it (RFC 8259 §8.2), so two different ones may become equal.
 */
export function findHalfCharacter(bytes: Uint8Array, parsed: unknown): string | undefined {
  const json = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const mayHave = json.includes('\\u');
  return mayHave ? findIn(parsed, '') : undefined;
}

function findIn(value: unknown, path: string): string | undefined {
  if (typeof value === 'string') return value.isWellFormed() ? undefined : path || 'body';
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const place = path === '' ? name : `${path}.${name}`;
    if (!name.isWellFormed()) return place.toWellFormed();
    const found = findIn(member, place);
    if (found !== undefined) return found;
  }
  return undefined;
}
