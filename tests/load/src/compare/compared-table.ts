import type { SideResult } from '../rows/measure-row.ts';
import { type Row, titleOf } from '../rows/row.ts';
import type { ComparedRow } from './compare-row.ts';

const sideHead = ['requests/s', 'p50 ms', 'p99', 'CPU µs', 'all CPU µs'];

/** Returns the table head; `other` names the other side. */
export const comparedHead = (other: string): string[] => [
  'row',
  ...sideHead,
  ...sideHead.map((name) => `${other}: ${name}`),
  'ratio',
  'CPU ratio',
];

const whole = (value: number | undefined): string =>
  value === undefined ? '' : Math.round(value).toLocaleString('en');
const ms = (value: number): string => value.toFixed(value < 10 ? 1 : 0);

const sideCells = ({ requestsPerSec, p50, p99, cpuUs, allCpuUs }: SideResult): string[] => [
  whole(requestsPerSec),
  ms(p50),
  ms(p99),
  whole(cpuUs),
  whole(allCpuUs),
];

const quotient = (a: number | undefined, b: number | undefined): string =>
  a === undefined || b === undefined ? '' : (a / b).toFixed(2);

/**
 * Returns a row's cells. The ratio is this side's requests/s divided by the other side's; the CPU ratio is the other
 * side's CPU time, all processes, divided by this side's. Above 1, this side is better.
 */
export function comparedCells(row: Row, other: string, { here, there }: ComparedRow): string[] {
  const failures = [...here.failures, ...there.failures.map((failure) => `${other}: ${failure}`)];
  return [
    failures.length > 0 ? `${titleOf(row)} (FAILURES: ${failures.join(', ')})` : titleOf(row),
    ...sideCells(here),
    ...sideCells(there),
    quotient(here.requestsPerSec, there.requestsPerSec),
    quotient(there.allCpuUs, here.allCpuUs),
  ];
}

/** Returns the cells for a row that failed. */
export const notMeasured = (row: Row, other: string, error: unknown): string[] => [
  `${titleOf(row)} (not measured: ${error instanceof Error ? error.message : error})`,
  ...comparedHead(other)
    .slice(1)
    .map(() => ''),
];
