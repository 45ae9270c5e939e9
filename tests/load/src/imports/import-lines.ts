import type { ImportResults } from './measure-imports.ts';

const whole = (value: number): string => Math.round(value).toLocaleString('en');

/** Describes the result in sentences. */
export const importLines = (result: ImportResults): string[] => [
  `An import of ${whole(result.rows)} posts does ${whole(result.withEventsPerSec)} rows/s with their events, and ` +
    `${whole(result.withoutEventsPerSec)} rows/s without.`,
  `During an import with events a get takes ${result.besideP95.toFixed(1)} ms (p95) instead of ${result.idleP95.toFixed(1)} ms.`,
];
