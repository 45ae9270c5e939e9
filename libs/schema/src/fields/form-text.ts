import { parseJson } from '@recordbus/text/json';
import type { FormText } from '../field-type.ts';

/** No number that a field holds exactly has a longer text. A longer one stays text, which the field refuses. */
const maxNumberLength = 400;

/** The text is the value. */
export const plainText: FormText = { isJson: () => false, takesSeveral: false, read: lastOf };

/** Decimal digits, with a fraction or an exponent. */
export const numberText = numberLike(/^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i);

/** Unix seconds. Another text stays text, since it may be a date. */
export const secondsText = numberLike(/^-?\d+(\.\d+)?$/);

/** The longest text that is `true` or `false` with spaces around it. */
const maxWordLength = 20;

/** `true` and `false`, in any case: spreadsheets write `TRUE`. */
export const boolText: FormText = {
  isJson: () => false,
  takesSeveral: false,
  read(texts) {
    const text = lastOf(texts);
    const word = text.length > maxWordLength ? '' : text.trim().toLowerCase();
    return word === 'true' ? true : word === 'false' ? false : text;
  },
};

/** JSON; a text that is not JSON stays text. */
export const jsonText: FormText = {
  isJson: () => true,
  takesSeveral: false,
  read(texts) {
    const text = lastOf(texts);
    if (text === '') return text;
    return parseJson(text) ?? (text.trim() === 'null' ? null : text);
  },
};

/** A part for each item, or one part with the whole list as JSON. An empty part holds no value. */
export const listText: FormText = {
  isJson: isJsonList,
  takesSeveral: true,
  read(texts) {
    const [text = '', ...others] = texts;
    if (others.length > 0) return texts;
    const value = isJsonList(text) ? parseJson(text) : undefined;
    if (Array.isArray(value)) return value;
    return text === '' || text === 'null' ? null : [text];
  },
};

function lastOf(texts: readonly string[]): string {
  return texts.at(-1) ?? '';
}

function numberLike(shape: RegExp): FormText {
  return {
    isJson: () => false,
    takesSeveral: false,
    read(texts) {
      const text = lastOf(texts);
      const digits = text.length > maxNumberLength ? '' : text.trim();
      return shape.test(digits) ? Number(digits) : text;
    },
  };
}

function isJsonList(text: string): boolean {
  return text.startsWith('[');
}
