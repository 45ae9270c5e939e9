/** First in, first out. */
export interface Queue<T> {
  push(item: T): void;
  /** Removes and returns the first item; undefined when the queue is empty. */
  shift(): T | undefined;
}

/** Taken slots are dropped from the array when there are this many, and more than are left. */
const compactFrom = 1024;

/**
 * Creates an empty queue in an array. A Set that gets and loses items all the time leaves its outgrown tables behind,
 * and those keep finished items alive past the young generation of the garbage collector.
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
