import { styleText } from 'node:util';
import type { Finding } from './finding.ts';

const marks = {
  ok: styleOf('green', '✓'),
  warning: styleOf('yellow', '!'),
  broken: styleOf('red', '✗'),
  skipped: styleOf('gray', '–'),
} as const;

/** Colours for people; NO_COLOR and a pipe switch them off. */
function styleOf(style: 'green' | 'yellow' | 'red' | 'gray', text: string): () => string {
  return () => styleText(style, text, { stream: process.stdout });
}

/** The findings as a table, what to do below each that asks for it, and a line that sums up. */
export function presentFindings(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ subject }) => subject.length));
  const lines = findings.flatMap(({ subject, verdict, says, advice }) => [
    `${marks[verdict]()} ${subject.padEnd(width)}  ${says}`,
    ...(advice ? [`  ${' '.repeat(width)}  → ${advice}`] : []),
  ]);
  const count = (verdict: Finding['verdict']) => findings.filter((finding) => finding.verdict === verdict).length;
  return [...lines, '', `${count('ok')} fine, ${count('warning')} to look at, ${count('broken')} broken.`].join('\n');
}
