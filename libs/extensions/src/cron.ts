import type { Tools } from './tools.ts';

/** Work that is done at set times, by one replica for all. */
export interface Cron {
  /** Of letters, digits, `_` and `-`; one extension has it once. */
  readonly name: string;
  /** Five fields: minute, hour, day of the month, month, day of the week. */
  readonly schedule: string;
  /** IANA name; UTC when not given. */
  readonly timeZone?: string;
  /** Of ticks that nobody was there for: none is made up for, or one is, once somebody is there again. */
  readonly missed?: 'skip' | 'run once';
  /** How long a run may take; 60 s when not given, at most an hour. A tick that comes meanwhile is skipped. */
  readonly timeoutMs?: number;
  readonly handler: (
    run: { readonly name: string /** Unix seconds. */; readonly at: number; readonly isManual: boolean },
    tools: Tools,
  ) => Promise<void> | void;
}

/** Declares a cron. */
export const cron = (declaration: Cron): Cron => declaration;
