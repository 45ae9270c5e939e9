import { createHash } from 'node:crypto';

/** Keeps subjects well below the length that servers and clients support (256 characters). */
const maxLabelLength = 200;

/**
 * Returns an event's subject: the prefix and the event's name, whose dots separate tokens so that subscribers can
 * filter (`events.posts.*`). Bytes that are not safe in a token become `=` and two hex digits, an empty token `=`. The
 * subject is for routing only; the exact name is in the header `Service-Event` and in the body.
 */
export function subjectOf(event: string, prefix = 'events'): string {
  const label = event.split('.').map(escapeToken).join('.');
  if (label.length <= maxLabelLength) return `${prefix}.${label}`;
  const hash = createHash('sha256').update(event).digest('hex').slice(0, 16);
  return `${prefix}.${label.slice(0, maxLabelLength)}=${hash}`;
}

function escapeToken(token: string): string {
  if (token === '') return '=';
  if (/^[A-Za-z0-9_-]+$/.test(token)) return token;
  return Array.from(Buffer.from(token), (byte) => {
    const character = String.fromCharCode(byte);
    return /[A-Za-z0-9_-]/.test(character) ? character : `=${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }).join('');
}
