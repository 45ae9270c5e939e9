export type Style = 'text' | 'markdown';

/** Formats a table as lines. All columns except the first have figures. */
export function table(head: readonly string[], rows: readonly (readonly string[])[], style: Style): string[] {
  const widths = head.map((cell, column) => Math.max(cell.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const pad = (cell: string, column: number) =>
    column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  const [open, between, close] = style === 'markdown' ? ['| ', ' | ', ' |'] : ['  ', '  ', ''];
  const line = (cells: readonly string[]) => `${open}${cells.map(pad).join(between)}${close}`;
  const rule =
    style === 'markdown'
      ? `|${widths.map((width, column) => (column === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`
      : `  ${widths.map((width) => '─'.repeat(width)).join('  ')}`;
  return [line(head), rule, ...rows.map(line)];
}
