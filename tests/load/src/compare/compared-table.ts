import { type Row, titleOf } from '../rows/row.ts';
import type { ComparedResult, ComparedRow } from './compare-row.ts';

const sideHead = ['requests/s', 'p50 ms', 'p99', 'CPU µs', 'PostgreSQL µs'];

export const comparedHead = ['row', ...sideHead, ...sideHead.map((name) => `other: ${name}`), 'ratio'];

const whole = (value: number | undefined): string =>
  value === undefined ? '' : Math.round(value).toLocaleString('en');
const ms = (value: number): string => value.toFixed(value < 10 ? 1 : 0);

const sideCells = ({ requestsPerSec, p50, p99, cpuUs, databaseCpuUs }: ComparedResult): string[] => [
  whole(requestsPerSec),
  ms(p50),
  ms(p99),
  whole(cpuUs),
  whole(databaseCpuUs),
];

/** Returns the cells of a row. The ratio is requests/s of this checkout divided by those of the other one. */
export function comparedCells(row: Row, { here, there }: ComparedRow): string[] {
  const failures = [...here.failures, ...there.failures.map((failure) => `other: ${failure}`)];
  return [
    failures.length > 0 ? `${titleOf(row)} (FAILURES: ${failures.join(', ')})` : titleOf(row),
    ...sideCells(here),
    ...sideCells(there),
    (here.requestsPerSec / there.requestsPerSec).toFixed(2),
  ];
}

/** Returns the cells of a row that failed. */
export const notMeasured = (row: Row, error: unknown): string[] => [
  `${titleOf(row)} (not measured: ${error instanceof Error ? error.message : error})`,
  ...comparedHead.slice(1).map(() => ''),
];
