export type Format = 'csv' | 'ndjson' | 'json';

/** A file's first rows, as text. */
export interface Preview {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** How much a preview reads from the beginning. */
export const previewBytes = 64 * 1024;
const maxRows = 5;
const maxColumns = 500;

/** Returns the format by a file name's extension. */
export function formatOf(name: string): Format | undefined {
  const end = /\.(csv|tsv|ndjson|jsonl|json)$/i.exec(name)?.[1]?.toLowerCase();
  if (end === undefined) return undefined;
  return end === 'csv' || end === 'tsv' ? 'csv' : end === 'json' ? 'json' : 'ndjson';
}

/** A first line that only names the separator, as Excel writes it. */
const separatorLine = /^\ufeff?"?sep=([^"\r\n])"?(?:\r?\n|\r)/i;

/** Returns the separator that CSV names in its first line, or the most frequent one there. */
export function separatorOf(text: string): string {
  const named = separatorLine.exec(text)?.[1];
  if (named !== undefined) return named;
  const line = text.split(/\r?\n|\r/, 1)[0] ?? '';
  const counts = [',', ';', '\t', '|'].map((one) => ({ one, count: line.split(one).length }));
  return counts.reduce((best, next) => (next.count > best.count ? next : best)).one;
}

/** Parses a file's beginning, without an incomplete row at its end. */
export function previewOf(text: string, format: Format, separator: string): Preview {
  const begin = text.startsWith('\ufeff') ? text.slice(1) : text;
  if (format === 'csv') {
    const [header = [], ...rows] = csvRows(begin.replace(separatorLine, ''), separator);
    const names = header.map((name) => name.trim());
    const columns = names.slice(0, names.findLastIndex((name) => name !== '') + 1);
    return { columns: columns.slice(0, maxColumns), rows: rows.slice(0, maxRows) };
  }
  const objects = format === 'ndjson' ? linesOf(begin) : elementsOf(begin);
  const columns = [...new Set(objects.flatMap((object) => Object.keys(object)))].slice(0, maxColumns);
  const cell = (value: unknown): string =>
    value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);
  return { columns, rows: objects.map((object) => columns.map((column) => cell(object[column]))) };
}

/** Parses CSV's header and first rows (import §3.1). */
function csvRows(text: string, separator: string): string[][] {
  const rows: string[][] = [];
  let [row, cell, isQuoted]: [string[], string, boolean] = [[], '', false];
  const endRow = (): void => {
    row.push(cell);
    if (row.length > 1 || cell !== '') rows.push(row);
    [row, cell] = [[], ''];
  };
  for (let at = 0; at < text.length && rows.length <= maxRows; at += 1) {
    const character = text.charAt(at);
    if (isQuoted) {
      if (character !== '"') cell += character;
      else if (text.charAt(at + 1) === '"') {
        cell += '"';
        at += 1;
      } else isQuoted = false;
    } else if (character === '"' && cell === '') isQuoted = true;
    else if (character === separator) {
      row.push(cell);
      cell = '';
    } else if (character === '\n' || character === '\r') {
      if (character === '\r' && text.charAt(at + 1) === '\n') at += 1;
      endRow();
    } else cell += character;
  }
  // A last line without a line end is complete only if the file ends there.
  if (rows.length <= maxRows && text.length < previewBytes / 2 && !isQuoted && (cell !== '' || row.length > 0))
    endRow();
  return rows;
}

type Members = Readonly<Record<string, unknown>>;

function parsed(text: string): Members | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : undefined;
  } catch {
    return undefined;
  }
}

const isMembers = (value: Members | undefined): value is Members => value !== undefined;

const linesOf = (text: string): Members[] =>
  text
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '')
    .slice(0, maxRows)
    .map(parsed)
    .filter(isMembers);

/** Parses a JSON array's first elements; its end may be missing. */
function elementsOf(text: string): Members[] {
  const found: Members[] = [];
  let [depth, from, isText] = [0, 0, false];
  for (let at = text.indexOf('[') + 1; at > 0 && at < text.length && found.length < maxRows; at += 1) {
    const character = text.charAt(at);
    if (isText) {
      if (character === '\\') at += 1;
      else if (character === '"') isText = false;
    } else if (character === '"') isText = true;
    else if (character === '{' || character === '[') {
      if (depth === 0) from = at;
      depth += 1;
    } else if (character === '}' || character === ']') {
      depth -= 1;
      if (depth < 0) break;
      const element = depth === 0 ? parsed(text.slice(from, at + 1)) : undefined;
      if (element) found.push(element);
    }
  }
  return found;
}
