/** The same limit as for webhooks' patterns. */
const maxLength = 255;

/**
 * Returns why a text cannot be an event's name; undefined when it can. Webhooks match events by name, so a star, which
 * means a pattern, and surrounding space, which headers lose, are forbidden; any other text is allowed.
 */
export function findEventNameProblem(name: string): string | undefined {
  if (name.trim() === '') return 'must not be empty';
  if (name.length > maxLength) return `may have at most ${maxLength} characters`;
  if (!name.isWellFormed() || /\p{Cc}/u.test(name)) return 'must be text without control characters';
  if (name !== name.trim()) return 'must have no space around it';
  if (name.includes('*')) return 'must have no star: it would be a pattern to webhooks';
  return undefined;
}
