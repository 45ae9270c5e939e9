import type { AnySchema } from './schema.ts';
import type { HandlerTools } from './tools.ts';

/** Work that runs at set times, on one replica. */
export interface Cron<S = AnySchema> {
  /** Letters, digits, `_` and `-`; unique within the extension. */
  readonly name: string;
  /** Five fields: minute, hour, day of the month, month, day of the week. */
  readonly schedule: string;
  /** IANA name; UTC by default. */
  readonly timeZone?: string;
  /** What happens to ticks while no replica runs: all are skipped (default), or one runs once a replica is back. */
  readonly missed?: 'skip' | 'run once';
  /** A run's timeout; 60 s by default, at most an hour. Ticks during a run are skipped. */
  readonly timeoutMs?: number;
  readonly handler: (
    run: { readonly name: string /** Unix seconds. */; readonly at: number; readonly isManual: boolean },
    tools: HandlerTools<S>,
  ) => Promise<void> | void;
}

/** Declares a cron. Within `defineExtension<Schema>` its tools know the collections. */
export const cron = <S = AnySchema>(declaration: Cron<S>): Cron<S> => declaration;
