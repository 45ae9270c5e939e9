import type { MoveResults } from './measure-move.ts';

const whole = (value: number): string => Math.round(value).toLocaleString('en');

/** Describes the result in sentences. */
export const moveLines = ({ size, seconds, processorSec, secondRunSec }: MoveResults): string[] => [
  `A move from PocketBase with ${whole(size.records)} records, ${whole(size.accounts)} accounts and ${whole(size.files)} files ` +
    `with ${whole((size.files * size.fileBytes) / 1e6)} MB takes ${seconds.toFixed(1)} s` +
    `${processorSec === undefined ? '' : `, and ${whole(processorSec)} s of processor time, the command included`}. ` +
    `A second run without a change takes ${secondRunSec.toFixed(1)} s.`,
];
