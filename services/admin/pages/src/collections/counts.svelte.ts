import { SvelteMap } from 'svelte/reactivity';
import { client } from '../api/client.ts';

/** How many counts may run at once. */
const atOnce = 4;

/** Rows this close to the viewport are counted before they are visible. */
const rootMargin = '200px';

/**
 * Each collection's record count, taken when its row comes into view. With hundreds of collections, counting them all
 * would use up the requests that an admin may send in ten seconds.
 */
class Counts {
  /** Undefined for a collection that could not be counted. */
  readonly byName = new SvelteMap<string, number | undefined>();
  readonly #rows = new Map<Element, string>();
  readonly #waiting = new Set<string>();
  #counted = new Set<string>();
  #running = 0;
  #observer: IntersectionObserver | undefined;

  /** Lets every collection be counted again. */
  begin(): void {
    this.#counted = new Set();
  }

  /** A row's attachment. Counts the collection when the row is in view, once after each `begin`. */
  readonly inView = (name: string) => (row: Element) => {
    this.#observer ??= new IntersectionObserver((entries) => this.#look(entries), { rootMargin });
    this.#rows.set(row, name);
    this.#observer.observe(row);
    return () => {
      this.#observer?.unobserve(row);
      this.#rows.delete(row);
      this.#waiting.delete(name);
    };
  };

  #look(entries: readonly IntersectionObserverEntry[]): void {
    for (const { target, isIntersecting } of entries) {
      const name = this.#rows.get(target);
      if (name === undefined) continue;
      if (!isIntersecting) this.#waiting.delete(name);
      else if (!this.#counted.has(name)) this.#waiting.add(name);
    }
    while (this.#running < atOnce && this.#waiting.size > 0) void this.#work();
  }

  async #work(): Promise<void> {
    this.#running += 1;
    for (let name = this.#take(); name !== undefined; name = this.#take()) {
      const request = client.from(name).list({ perPage: 1, fields: ['id'] });
      const page = await request.catch(() => undefined);
      this.byName.set(name, page?.totalItems);
    }
    this.#running -= 1;
  }

  #take(): string | undefined {
    const [name] = this.#waiting;
    if (name === undefined) return undefined;
    this.#waiting.delete(name);
    this.#counted.add(name);
    return name;
  }
}

export const counts = new Counts();
