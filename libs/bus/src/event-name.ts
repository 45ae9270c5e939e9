/** Webhooks' patterns have room for as much. */
const maxLength = 255;

/**
 * Why a text can't be the name of an event, or undefined. Webhooks listen to an event by its very name, so it has no
 * star, which is for patterns, and no space around it, which headers lose; else it is any text.
 */
export function findEventNameProblem(name: string): string | undefined {
  if (name.trim() === '') return 'must not be empty';
  if (name.length > maxLength) return `may have at most ${maxLength} characters`;
  if (!name.isWellFormed() || /\p{Cc}/u.test(name)) return 'must be text without control characters';
  if (name !== name.trim()) return 'must have no space around it';
  if (name.includes('*')) return 'must have no star: it would be a pattern to webhooks';
  return undefined;
}
