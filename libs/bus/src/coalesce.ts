/**
 * Wraps a function so that many calls become few: the first runs it at once, those within `intervalMs` after a run are
 * answered by one more run at its end.
 */
export function coalesce(run: () => void, intervalMs: number): () => void {
  let resting = false;
  let wanted = false;
  function call(): void {
    if (resting) {
      wanted = true;
      return;
    }
    resting = true;
    wanted = false;
    setTimeout(() => {
      resting = false;
      if (wanted) call();
    }, intervalMs).unref();
    run();
  }
  return call;
}
