import type { Field } from '@recordbus/schema';

/** Types whose value is JSON that stands in the text of its part. */
const jsonTypes = new Set(['json', 'geoPoint', 'vector']);

/**
 * The value that the text parts of one field stand for (contract §3). What can't be read as the field's type stays text,
 * which the field then refuses or takes as it does in a JSON body. A field that the collection lacks is refused there
 * too.
 */
export function valueOfParts(field: Field | undefined, texts: readonly string[]): unknown {
  const text = texts.at(-1) ?? '';
  if (!field) return text;
  if (field.options.multiple === true) return texts.length === 1 ? listOf(text) : texts;
  if (field.type === 'number') return /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(text) ? Number(text) : text;
  if (field.type === 'date') return /^\s*-?\d+\s*$/.test(text) ? Number(text) : text;
  if (field.type === 'bool') return text === 'true' ? true : text === 'false' ? false : text;
  if (jsonTypes.has(field.type) && text !== '') return parsed(text) ?? (text.trim() === 'null' ? null : text);
  return text;
}

/** One part may hold the whole list as JSON; an empty one stands for no value. */
function listOf(text: string): unknown {
  const value = text.startsWith('[') ? parsed(text) : undefined;
  if (Array.isArray(value)) return value;
  return text === '' || text === 'null' ? null : [text];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
