import { shapedReadBudget, workOf } from '../connections/connection-budget.ts';

/** How many long reads a process runs at once. */
export interface LongReadWidth {
  /** Notes work that long reads must not delay: a get, a first page, a write, a sign-in, a quick shaped read. */
  noteShortWork(): void;
  now(): number;
}

/** Creates the width: all cores while the process has no other work, one fewer for a while after other work. */
export function createLongReadWidth(nowMs: () => number = () => performance.now()): LongReadWidth {
  const { longBesideOthers, quietMs } = shapedReadBudget;
  let shortWorkAtMs = Number.NEGATIVE_INFINITY;
  return {
    noteShortWork() {
      shortWorkAtMs = nowMs();
    },
    now: () => (nowMs() - shortWorkAtMs < quietMs ? longBesideOthers : workOf('longReads').places),
  };
}
