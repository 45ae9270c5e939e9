import { every } from '@recordbus/shared/background';
import { consistencyMs } from '@recordbus/shared/consistency';
import type { Logger } from '@recordbus/shared/logging';
import { laterPosition, type Position } from './position.ts';

/** The end of the primary's log over time. */
export interface PrimaryLog {
  /** What every read needs: all that is older than a moment, and the last change of the schema. Undefined while unknown. */
  floor(): Position | undefined;
  /** Makes every further read need all that was committed before this call. */
  raiseFloor(): void;
  /** The end when it was last asked for; undefined before the first answer. */
  readonly latest: Position | undefined;
  /** How long ago the log ended at a position, in seconds; 0 if it still does. */
  ageOf(lsn: number): number;
  /** Asks for the first time, then every second. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface PrimaryLogOptions {
  /** Asks the primary for the end of its log. */
  readonly ask: () => Promise<Position>;
  /** Writes the timeline of the primary into its table. */
  readonly mark: () => Promise<unknown>;
  readonly log: Logger;
  readonly nowMs?: () => number;
}

interface Sample extends Position {
  readonly atMs: number;
}

const askMs = 1000;

/** How old the position is that every read needs, in milliseconds: less than the time for which the gateway remembers. */
const floorMs = consistencyMs - 5000;

/** How long samples are kept, in milliseconds. No lag looks longer. */
const keptMs = 600_000;

/** Creates it. It knows nothing before the start. */
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

  const asking = every({ name: 'ask for the end of the log of the database', log, intervalMs: askMs, run: look });

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
