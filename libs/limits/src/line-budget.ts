/** Returns whether the next log line that a client can cause may be written. */
export type LineBudget = () => boolean;

const periodMs = 60_000;

/**
 * Creates a line budget per minute, so that no client can fill a disk; `report` then gets the count of omitted lines.
 * `nowMs` is a monotonic clock.
 */
export function createLineBudget(
  linesPerMinute: number,
  report: (omitted: number) => void,
  nowMs: () => number = () => performance.now(),
): LineBudget {
  let endsAtMs = Number.NEGATIVE_INFINITY;
  let written = 0;
  let omitted = 0;

  function endPeriod(): void {
    const count = omitted;
    omitted = 0;
    if (count > 0) report(count);
  }

  return () => {
    const now = nowMs();
    if (now >= endsAtMs) {
      endPeriod();
      endsAtMs = now + periodMs;
      written = 0;
    }
    if (written < linesPerMinute) {
      written += 1;
      return true;
    }
    omitted += 1;
    // The timer does not keep the process alive.
    if (omitted === 1) setTimeout(endPeriod, endsAtMs - now).unref();
    return false;
  };
}
