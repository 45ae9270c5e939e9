/**
 * Returns a function whose calls of one turn of the event loop share an ask. The ask begins after them, so its answer holds
 * for all of them.
 */
export function createCoalescedAsk<T>(ask: () => Promise<T>): () => Promise<T> {
  let next: Promise<T> | undefined;
  return () => {
    next ??= new Promise<void>((begin) => setImmediate(begin)).then(() => {
      next = undefined;
      return ask();
    });
    return next;
  };
}
