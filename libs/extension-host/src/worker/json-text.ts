/** More than this goes from a worker to nobody: the service would hold it in its own memory. */
const maxLength = 16 * 1024 * 1024;

/** As it was before code of an extension could put its own in its place. */
const { stringify } = JSON;

/** A value as JSON, which is how values leave a worker. Throws for what can't be written so, and for what is too large. */
export function jsonText(value: unknown): string {
  const text = stringify(value);
  if (text === undefined)
    throw new TypeError(`${value === undefined ? 'undefined' : `a ${typeof value}`} can not be written as JSON`);
  if (text.length > maxLength) throw new RangeError(`the value has more than ${maxLength} characters as JSON`);
  return text;
}
