/**
 * Returns a function whose calls within one turn of the event loop share one query. The query begins after them, so its
 * answer is valid for all of them.
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
