import type { BesideResult, ExpensiveReadsResult, ProbeResult } from '../beside/measure-beside.ts';
import { type Style, table } from './table.ts';

const ms = (value: number): string => value.toFixed(value < 10 ? 1 : 0);

const head = ['another client, during expensive reads', 'idle p95 ms', '20 addresses', 'ratio', 'one address', 'ratio'];

const cells = ({ title, idleP95, manyP95, oneP95 }: ProbeResult): string[] => [
  title,
  ms(idleP95),
  ms(manyP95),
  (manyP95 / idleP95).toFixed(1),
  ms(oneP95),
  (oneP95 / idleP95).toFixed(1),
];

function answers({ statuses, unanswered }: ExpensiveReadsResult): string {
  const byStatus = Object.entries(statuses).map(([status, count]) => `${count} × ${status}`);
  return [...byStatus, `${unanswered} without an answer`].join(', ');
}

/** Formats other clients' latencies during expensive reads, and the answers to those reads, as paragraphs. */
export const besideLines = ({ probes, many, one }: BesideResult, style: Style): string[][] => [
  table(head, probes.map(cells), style),
  [
    `Answers to expensive reads from 20 addresses: ${answers(many)}.`,
    `Answers to those from one address: ${answers(one)}.`,
  ].map((line) => (style === 'markdown' ? `- ${line}` : `  ${line}`)),
];
