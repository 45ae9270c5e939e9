/** An index that PocketBase stores as SQL. */
export interface StoredIndex {
  readonly name: string;
  readonly isUnique: boolean;
  readonly columns: readonly { readonly name: string; readonly ignoresCase: boolean }[];
  readonly where: string | undefined;
}

const name = String.raw`(?:\x60[^\x60]*\x60|"[^"]*"|\[[^\]]*\]|[A-Za-z0-9_.]+)`;
const head = new RegExp(
  String.raw`^\s*create\s+(unique\s+)?index\s+(?:if\s+not\s+exists\s+)?(${name})\s+on\s+(${name})\s*\(`,
  'i',
);
const column = new RegExp(String.raw`^(${name})(\s+collate\s+(\w+))?(\s+(?:asc|desc))?$`, 'i');

/** SQL longer than any index that the dashboard writes. */
const maxLength = 4000;

const unquoted = (text: string): string =>
  /^[\x60"[]/.test(text) ? text.slice(1, -1) : (text.split('.').at(-1) ?? text);

/** Reads an index's SQL. Undefined for one that has an expression or another form. */
export function readIndex(sql: string): StoredIndex | undefined {
  if (sql.length > maxLength) return undefined;
  const text = sql.replace(/\s+/g, ' ').trim();
  const start = head.exec(text);
  if (!start) return undefined;
  const rest = text.slice(start[0].length);
  const end = rest.indexOf(')');
  if (end === -1) return undefined;
  const columns = rest
    .slice(0, end)
    .split(',')
    .map((part) => column.exec(part.trim()));
  if (columns.some((read) => read === null)) return undefined;
  const where = /^\s*where (.+)$/i.exec(rest.slice(end + 1))?.[1];
  return {
    name: unquoted(start[2] ?? ''),
    isUnique: start[1] !== undefined,
    columns: columns.flatMap((read) =>
      read ? [{ name: unquoted(read[1] ?? ''), ignoresCase: /^nocase$/i.test(read[3] ?? '') }] : [],
    ),
    where,
  };
}

/** Whether a condition only leaves out empty values, which `unique` does here anyway. */
export function isNotEmpty(where: string, columns: readonly string[]): boolean {
  return where.split(/ and /i).every((part) => {
    const read = /^\(?\s*(\S+?)\s*(?:(?:!=|<>)\s*(?:''|'\[\]'|"")|is not null)\s*\)?$/i.exec(part.trim());
    return read !== null && columns.includes(unquoted(read[1] ?? ''));
  });
}
