/** More than this goes from a worker to nobody: the service would hold it in its own memory. */
const maxLength = 16 * 1024 * 1024;

/** A value as JSON, which is how values leave a worker. Throws for what can't be written so, and for what is too large. */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value);
  if (text === undefined) throw new TypeError('the value can not be written as JSON');
  if (text.length > maxLength) throw new RangeError(`the value has more than ${maxLength} characters as JSON`);
  return text;
}
