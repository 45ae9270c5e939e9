/** Deeper values could exhaust a stack, here or in the database; no record has one. */
const maxDepth = 500;

/** Returns the text; undefined for one that no record can have, with NUL or half a surrogate pair. */
export const readText = (text: string | undefined): string | undefined =>
  text === undefined || text.includes('\0') || !text.isWellFormed() ? undefined : text;

/** Returns a value's JSON text; undefined for one that no record can have. */
export function readJson(value: unknown): string | undefined {
  return isStorable(value, 0) ? JSON.stringify(value) : undefined;
}

function isStorable(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return readText(value) !== undefined;
  if (typeof value !== 'object' || value === null) return true;
  if (depth === maxDepth) return false;
  return Object.entries(value).every(([key, item]) => isStorable(key, depth) && isStorable(item, depth + 1));
}
