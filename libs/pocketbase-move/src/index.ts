export { MoveFailed, moveArchive } from './archive/start-move.ts';
export { type MoveResult, moveIn } from './move-in.ts';
export type { MoveOptions, MoveParts } from './options.ts';
export { type MoveReport, summaryOf } from './report.ts';
export { reportPage } from './report-page.ts';
