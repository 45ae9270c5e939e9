/** Formats a Markdown table. Cells are Markdown; characters that would end a cell are escaped. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

const cell = (text: string): string =>
  text
    .replaceAll('|', '\\|')
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .join(' ');

/** Formats any text as code. */
export function code(text: string): string {
  const fence = text.includes('`') ? '``' : '`';
  return `${fence}${text.replaceAll('\n', '\\n')}${fence}`;
}
