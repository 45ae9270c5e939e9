import type { SideResult } from '../rows/measure-row.ts';
import { type Row, titleOf } from '../rows/row.ts';

const sideHead = ['requests/s', 'p50 ms', 'p99', 'CPU µs'];

export const pocketBaseHead = ['row', ...sideHead, ...sideHead.map((name) => `PocketBase: ${name}`), 'ratio'];

const whole = (value: number | undefined): string =>
  value === undefined ? '' : Math.round(value).toLocaleString('en');
const ms = (value: number): string => value.toFixed(value < 10 ? 1 : 0);

const sideCells = ({ requestsPerSec, p50, p99, cpuUs }: SideResult): string[] => [
  whole(requestsPerSec),
  ms(p50),
  ms(p99),
  whole(cpuUs),
];

/** Returns the cells of a row. The ratio is requests/s of the product divided by those of PocketBase. */
export function pocketBaseCells(row: Row, product: SideResult, other: SideResult): string[] {
  const failures = [...product.failures, ...other.failures.map((failure) => `PocketBase: ${failure}`)];
  const shown = titleOf(row);
  return [
    failures.length > 0 ? `${shown} (FAILURES: ${failures.join(', ')})` : shown,
    ...sideCells(product),
    ...sideCells(other),
    (product.requestsPerSec / other.requestsPerSec).toFixed(2),
  ];
}
