import { styleText } from 'node:util';
import type { Finding } from './finding.ts';

const marks = {
  ok: styleOf('green', '✓'),
  warning: styleOf('yellow', '!'),
  broken: styleOf('red', '✗'),
  skipped: styleOf('gray', '–'),
} as const;

/** Colours the text on a terminal. NO_COLOR and a pipe switch colours off. */
function styleOf(style: 'green' | 'yellow' | 'red' | 'gray', text: string): () => string {
  return () => styleText(style, text, { stream: process.stdout });
}

/** Formats the findings as a table with advice below each finding that has it, and a summary line. */
export function presentFindings(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ subject }) => subject.length));
  const lines = findings.flatMap(({ subject, verdict, says, advice }) => [
    `${marks[verdict]()} ${subject.padEnd(width)}  ${says}`,
    ...(advice ? [`  ${' '.repeat(width)}  → ${advice}`] : []),
  ]);
  const count = (verdict: Finding['verdict']) => findings.filter((finding) => finding.verdict === verdict).length;
  const warnings = count('warning');
  const inAll = `${count('ok')} ok, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}, ${count('broken')} broken.`;
  return [...lines, '', inAll].join('\n');
}
