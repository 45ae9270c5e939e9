/** The limit on a value that leaves a worker: the service holds it in its own memory. */
const maxLength = 16 * 1024 * 1024;

/** Saved before extension code could replace it. */
const { stringify } = JSON;

/** Serializes a value that leaves a worker. Throws for a value that is not JSON or too large. */
export function jsonText(value: unknown): string {
  const text = stringify(value);
  if (text === undefined)
    throw new TypeError(`${value === undefined ? 'undefined' : `a ${typeof value}`} cannot be written as JSON`);
  if (text.length > maxLength) throw new RangeError(`the value has more than ${maxLength} characters as JSON`);
  return text;
}
