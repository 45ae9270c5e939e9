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

/** How the values of one member of a record are written to cells of CSV, and read from them. */
export interface Cell {
  /** Returns the text of a value as JSON shows it. Null is an empty cell, and an empty text is a quoted one. */
  write(value: unknown): string | null;
  /**
   * Returns the value of a cell's text. A text that is not such a value stays text, which the field then refuses. The
   * caller decides which cells are null.
   */
  read(text: string): unknown;
}

interface CellOptions {
  /** Whether texts that a spreadsheet would run are written as they are. */
  readonly isRaw?: boolean;
}

/** What a spreadsheet runs, and what `safeText` and `unmarked` turn it into and back. */
const marked = /^'*[=+\-@\t\r]/;

/**
 * Returns the cells of all members that a record of the collection may have, by name: `id`, the fields, and what the
 * server adds. `write` puts `'` before a text that a spreadsheet would run, and `read` takes it off.
 */
export function cellsOf(collection: Collection, { isRaw = false }: CellOptions = {}): ReadonlyMap<string, Cell> {
  const writeText = isRaw ? plainOf : safeText;
  const cell = (kind: ValueKind, form: FormText): Cell => ({
    write: isJson(kind) ? jsonOf : writeText,
    read: (text) => form.read([unmarked(text)]),
  });
  return new Map<string, Cell>([
    ['id', cell('text', plainText)],
    ...collection.fields.map((field): [string, Cell] => {
      const type = fieldTypeOf(field);
      const kind = type.filterKind(field);
      // No form has an autodate, but an import may keep it.
      return [field.name, cell(kind, kind === 'date' ? secondsText : type.formText(field))];
    }),
    ['anonymous', cell('bool', boolText)],
    ['created', cell('date', secondsText)],
    ['updated', cell('date', secondsText)],
    ['expand', cell('json', jsonText)],
  ]);
}

const isJson = (kind: ValueKind): boolean => kind === 'json' || kind === 'list' || kind === 'vector';

const isNothing = (value: unknown): value is null | undefined => value === null || value === undefined;

const jsonOf = (value: unknown): string | null => (isNothing(value) ? null : JSON.stringify(value));

/** Numbers are in their shortest form. */
const plainOf = (value: unknown): string | null =>
  isNothing(value) ? null : typeof value === 'object' ? JSON.stringify(value) : String(value);

/** Only texts are marked: a spreadsheet reads `-1` as the number that it is. */
function safeText(value: unknown): string | null {
  if (typeof value !== 'string') return plainOf(value);
  return marked.test(value) ? `'${value}` : value;
}

const unmarked = (text: string): string => (text.startsWith("'") && marked.test(text) ? text.slice(1) : text);
