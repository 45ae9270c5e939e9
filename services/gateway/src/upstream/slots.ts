/** An item in slots. `index` is its slot's number. */
export interface Slotted {
  index: number;
}

/**
 * Items in progress, such as requests. Not a Set: it would replace its table all the time, and the old tables would
 * keep finished items alive beyond the garbage collector's young generation.
 */
export class Slots<T extends Slotted> {
  /** The first `#count` slots are taken, the others empty. */
  readonly #items: (T | undefined)[] = [];
  #count = 0;

  add(item: T): void {
    item.index = this.#count;
    this.#items[this.#count] = item;
    this.#count += 1;
  }

  /** Returns false for an item that was removed before. */
  remove(item: T): boolean {
    if (this.#items[item.index] !== item) return false;
    this.#count -= 1;
    const last = this.#items[this.#count];
    this.#items[this.#count] = undefined;
    if (last && last !== item) {
      this.#items[item.index] = last;
      last.index = item.index;
    }
    return true;
  }

  /** The items at this moment. */
  all(): T[] {
    return this.#items.slice(0, this.#count) as T[];
  }
}
