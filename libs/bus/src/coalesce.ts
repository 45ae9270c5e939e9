/**
 * Wraps a function so that it runs at most once per interval: the first call runs it at once, and calls within
 * `intervalMs` after a run cause one more run at its end.
 */
export function coalesce(run: () => void, intervalMs: number): () => void {
  let isResting = false;
  let isPending = false;
  function call(): void {
    if (isResting) {
      isPending = true;
      return;
    }
    isResting = true;
    isPending = false;
    setTimeout(() => {
      isResting = false;
      if (isPending) call();
    }, intervalMs).unref();
    run();
  }
  return call;
}
