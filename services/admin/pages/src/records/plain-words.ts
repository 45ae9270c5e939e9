import type { CollectionDefinition, FieldDefinition } from '@recordbus/client';

/** Types whose values contain words. */
const wordTypes: readonly string[] = ['text', 'editor', 'email', 'url', 'select'];

/** More words would make an expression that the server refuses as too long. */
const maxWords = 8;

const isEncrypted = ({ options }: FieldDefinition): boolean => options?.encrypted === true;

/** Returns the fields in which words are looked for. */
const wordFields = ({ fields }: CollectionDefinition): readonly FieldDefinition[] =>
  fields.filter((field) => wordTypes.includes(field.type) && !isEncrypted(field));

/** Whether a text is an expression: it has an operator or a call outside quotes. */
export function isExpression(text: string): boolean {
  const outside = text.slice(0, 10_000).replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, ' ');
  return /[=<>~]|&&|\|\||\bin\s*\(|\b(?:not|all|none|exists|count|distance)\s*\(/.test(outside);
}

/** Splits words at white space. What is in quotes stays together. */
const wordsIn = (text: string): string[] =>
  [...text.slice(0, 10_000).matchAll(/"([^"]*)"|(\S+)/g)]
    .map(([, quoted, word = '']) => (quoted ?? word).trim())
    .filter((word) => word !== '')
    .slice(0, maxWords);

const quote = (word: string): string => `"${word.replace(/[\\"]/g, '\\$&')}"`;

/**
 * Returns the filter for what was typed: an expression as it is, and for plain words one that finds each word in a text
 * field, or a number in a number field.
 */
export function filterFor(typed: string, collection: CollectionDefinition): string {
  if (typed.trim() === '' || isExpression(typed)) return typed;
  const texts = wordFields(collection).map(({ name }) => name);
  const numbers = collection.fields.filter(({ type }) => type === 'number').map(({ name }) => name);
  return wordsIn(typed)
    .map((word) => {
      const isNumber = /^-?\d{1,15}(\.\d{1,9})?$/.test(word);
      const tests = [
        ...texts.map((name) => `${name} ~ ${quote(word)}`),
        ...(isNumber ? numbers.map((name) => `${name} = ${word}`) : []),
        `id = ${quote(word)}`,
      ];
      return tests.length === 1 ? String(tests[0]) : `(${tests.join(' || ')})`;
    })
    .join(' && ');
}

/** What a list is narrowed to: by an expression, or by words in the search index. */
export interface Sought {
  readonly filter: string;
  readonly search: string;
}

/** Whether the search index can look for what was typed. A single word with a digit may be an id or a number. */
export function isForIndex(typed: string): boolean {
  const words = typed.trim();
  if (words === '' || isExpression(words)) return false;
  return /\s/.test(words) || !/\d/.test(words);
}

/** Returns the search box's hint, with a field that exists. */
export function searchHint(collection: CollectionDefinition): string {
  const text = wordFields(collection)[0]?.name;
  const number = collection.fields.find(({ type }) => type === 'number')?.name;
  const example = text ? `${text} ~ "word"` : number ? `${number} > 3` : 'created > @now-7d';
  return text ? `Words, or an expression: ${example}` : `An expression: ${example}`;
}

/** Says how to correct an expression. */
export function searchHelp(collection: CollectionDefinition): string {
  const names = ['id', ...collection.fields.map(({ name }) => name)].slice(0, 12).join(', ');
  return `To search for words, write them without operators. An expression compares fields, with texts in quotes: ${searchHint(collection).replace(/^[^:]*: /, '')}. Fields: ${names}.`;
}
