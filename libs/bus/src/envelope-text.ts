import { envelope } from './envelope.ts';

/** Deeper nesting is refused, because PostgreSQL cannot return it again. */
const maxDepth = 1000;

/**
 * Returns a JSON object's members as their original texts, which keep every digit and escape; parsing and serializing
 * would not. The text must be valid JSON. If two members have the same name, the last one wins, as in JSON.parse.
 * Throws for an object that is nested too deep.
 */
export function cutMembers(text: string): Map<string, string> {
  const members = new Map<string, string>();
  let depth = 0;
  let name: string | undefined;
  let start = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') {
      const opening = at;
      at = endOfString(text, at);
      if (depth === 1 && name === undefined) name = JSON.parse(text.slice(opening, at + 1));
    } else if (character === ':' && depth === 1) start = at + 1;
    else if (character === '{' || character === '[') {
      depth += 1;
      if (depth > maxDepth) throw new Error(`nested more than ${maxDepth} deep`);
    } else if (character === '}' || character === ']') depth -= 1;
    const isEndOfMember = (character === ',' && depth === 1) || (character === '}' && depth === 0);
    if (isEndOfMember && name !== undefined) {
      members.set(name, text.slice(start, at).trim());
      name = undefined;
    }
  }
  return members;
}

function endOfString(text: string, opening: number): number {
  let at = opening + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}

/**
 * Returns the envelope to publish instead of one that is too large for a message: the same with `data` null and a
 * `reference`. Throws for a text that is not an envelope.
 */
export function referenceTo(text: string): string {
  const { id } = envelope.parse(JSON.parse(text));
  const members = cutMembers(text);
  members.set('data', 'null');
  members.set('reference', JSON.stringify({ type: 'large_event', id, bytes: Buffer.byteLength(text) }));
  return `{${[...members].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
}
