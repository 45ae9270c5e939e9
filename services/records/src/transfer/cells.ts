import {
  boolText,
  type Collection,
  type FormText,
  fieldTypeOf,
  jsonText,
  plainText,
  secondsText,
  type ValueKind,
} from '@recordbus/schema';
import { writtenSeconds } from '@recordbus/text/date-text';

/** Writes one record member's values to CSV cells, and reads them. */
export interface Cell {
  /** Returns a JSON value's cell text. Null is an empty cell, and an empty text is a quoted one. */
  write(value: unknown): string | null;
  /**
   * Returns the value in a cell's text. A text that cannot be read stays text, which the field then refuses. The caller
   * decides which cells are null.
   */
  read(text: string): unknown;
}

interface CellOptions {
  /** Whether texts that a spreadsheet would run are written unchanged. */
  readonly isRaw?: boolean;
}

/** Texts that a spreadsheet would run, and texts that begin with `safeText`'s mark. */
const marked = /^'*[=+\-@\t\r]/;

/**
 * Returns the cells for all members that the collection's records may have, by name: `id`, the fields, and members that
 * the server adds. `write` puts `'` before a text that a spreadsheet would run, and `read` removes it.
 */
export function cellsOf(collection: Collection, { isRaw = false }: CellOptions = {}): ReadonlyMap<string, Cell> {
  const writeText = isRaw ? plainOf : safeText;
  const cell = (kind: ValueKind, form: FormText): Cell => ({
    write: isJson(kind) ? jsonOf : kind === 'date' ? (value) => writeText(dateOf(value)) : writeText,
    read: (text) => form.read([unmarked(text)]),
  });
  return new Map<string, Cell>([
    ['id', cell('text', plainText)],
    ...collection.fields.map((field): [string, Cell] => {
      const type = fieldTypeOf(field);
      const kind = type.filterKind(field);
      // Forms have no autodate fields, but an import may keep them.
      return [field.name, cell(kind, kind === 'date' ? secondsText : type.formText(field))];
    }),
    ['anonymous', cell('bool', boolText)],
    ['created', cell('date', secondsText)],
    ['updated', cell('date', secondsText)],
    ['expand', cell('json', jsonText)],
  ]);
}

const isJson = (kind: ValueKind): boolean => kind === 'json' || kind === 'list' || kind === 'vector';

/** A number that an import would refuse as milliseconds is written as a date. */
const dateOf = (value: unknown): unknown => (typeof value === 'number' ? writtenSeconds(value) : value);

const isNothing = (value: unknown): value is null | undefined => value === null || value === undefined;

const jsonOf = (value: unknown): string | null => (isNothing(value) ? null : JSON.stringify(value));

/** Numbers are in their shortest form. */
const plainOf = (value: unknown): string | null =>
  isNothing(value) ? null : typeof value === 'object' ? JSON.stringify(value) : String(value);

/** Marks only texts, since a spreadsheet reads `-1` as a number. */
function safeText(value: unknown): string | null {
  if (typeof value !== 'string') return plainOf(value);
  return marked.test(value) ? `'${value}` : value;
}

const unmarked = (text: string): string => (text.startsWith("'") && marked.test(text) ? text.slice(1) : text);
