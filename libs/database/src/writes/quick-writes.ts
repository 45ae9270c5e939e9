import { createQuickStatements, type QuickStatements } from '../connections/quick-statements.ts';

/** How long the least time of a write counts, at least, in milliseconds. */
const periodMs = 30_000;

/**
 * Creates the memory of quick writes. A write that has its own commit waits for the disk, which takes as long for each of
 * them. So a write is judged by how much longer it took than the quickest one of the last minute.
 */
export function createQuickWrites(nowMs: () => number = () => performance.now()): QuickStatements {
  const statements = createQuickStatements(nowMs);
  let least = Number.POSITIVE_INFINITY;
  let leastBefore = Number.POSITIVE_INFINITY;
  let periodEndsAtMs = nowMs() + periodMs;

  /** Returns the least time of this period and of the one before. */
  function leastWith(tookMs: number): number {
    if (nowMs() >= periodEndsAtMs) {
      leastBefore = least;
      least = Number.POSITIVE_INFINITY;
      periodEndsAtMs = nowMs() + periodMs;
    }
    least = Math.min(least, tookMs);
    return Math.min(least, leastBefore);
  }

  return {
    ...statements,
    noteRun(statement, tookMs) {
      statements.noteRun(statement, tookMs - leastWith(tookMs));
    },
  };
}
