/**
 * Wraps a function so that it runs at most once per interval: the first call runs it at once, and calls within
 * `intervalMs` after a run cause one more run at its end.
 */
export function coalesce(run: () => void, intervalMs: number): () => void {
  let resting = false;
  let isPending = false;
  function call(): void {
    if (resting) {
      isPending = true;
      return;
    }
    resting = true;
    isPending = false;
    setTimeout(() => {
      resting = false;
      if (isPending) call();
    }, intervalMs).unref();
    run();
  }
  return call;
}
