/** First in, first out. */
export interface Queue<T> {
  push(item: T): void;
  /** Removes and returns the first item; undefined when the queue is empty. */
  shift(): T | undefined;
}

/** Empty slots are removed when there are at least this many, and more of them than items. */
const compactFrom = 1024;

/**
 * Creates an empty queue in an array. A Set that gains and loses items all the time keeps replacing its table, and the
 * old tables keep finished items alive beyond the garbage collector's young generation.
 */
export function createQueue<T>(): Queue<T> {
  const items: (T | undefined)[] = [];
  let first = 0;
  return {
    push(item) {
      items.push(item);
    },
    shift() {
      if (first === items.length) return undefined;
      const item = items[first];
      items[first] = undefined;
      first += 1;
      if (first === items.length || (first >= compactFrom && first * 2 > items.length)) {
        items.splice(0, first);
        first = 0;
      }
      return item;
    },
  };
}
