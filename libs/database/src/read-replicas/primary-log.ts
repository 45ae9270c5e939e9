import { every } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import { consistencyMs } from '@recordbus/request/consistency';
import { laterPosition, type Position } from './position.ts';

/** Where the primary's log ended over time. */
export interface PrimaryLog {
  /** The position that every read needs: all older writes, and the last schema change. Undefined while unknown. */
  floor(): Position | undefined;
  /** Makes every later read need all commits before this call. */
  raiseFloor(): void;
  /** Where the log ended at the last query; undefined before the first answer. */
  readonly latest: Position | undefined;
  /** How long ago the log ended at a position, in seconds; 0 if it still ends there. */
  ageOf(lsn: number): number;
  /** Queries the log's end now, and then every second. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface PrimaryLogOptions {
  /** Queries the primary's log end. */
  readonly ask: () => Promise<Position>;
  /** Writes the primary's timeline into its table. */
  readonly mark: () => Promise<unknown>;
  readonly log: Logger;
  readonly nowMs?: () => number;
}

interface Sample extends Position {
  readonly atMs: number;
}

const askMs = 1000;

/**
 * How old the position that every read needs is, in milliseconds. Less than the time that the gateway remembers writes.
 */
const floorMs = consistencyMs - 5000;

/** How long samples are kept, in milliseconds. A longer lag is not measured. */
const keptMs = 600_000;

/** Creates the log. It knows no position before `start`. */
export function createPrimaryLog({ ask, mark, log, nowMs = () => performance.now() }: PrimaryLogOptions): PrimaryLog {
  let samples: Sample[] = [];
  let raised: Position | undefined;
  let raises = 0;
  let marked: number | undefined;

  async function look(): Promise<void> {
    const raisesBefore = raises;
    const atMs = nowMs();
    const position = await ask();
    if (position.timeline !== marked) {
      await mark();
      marked = position.timeline;
    }
    if (raisesBefore === raises) raised ??= position;
    if (position.timeline !== samples.at(-1)?.timeline) samples = [];
    samples = [...samples.filter((sample) => atMs - sample.atMs < keptMs), { ...position, atMs }];
  }

  const asking = every({ name: 'find the end of the database log', log, intervalMs: askMs, run: look });

  return {
    floor() {
      const latest = samples.at(-1);
      if (!latest || !raised || nowMs() - latest.atMs > consistencyMs) return undefined;
      const old = samples.findLast(({ atMs }) => nowMs() - atMs >= floorMs);
      return old ? laterPosition(old, raised) : raised;
    },
    raiseFloor() {
      raises += 1;
      raised = undefined;
      asking.wake();
    },
    get latest() {
      return samples.at(-1);
    },
    ageOf(lsn) {
      const after = samples.find((sample) => sample.lsn > lsn);
      return after ? (nowMs() - after.atMs) / 1000 : 0;
    },
    async start() {
      await look();
      asking.start();
    },
    stop: () => asking.stop(),
  };
}
