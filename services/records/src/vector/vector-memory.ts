import { VectorRows } from './vector-rows.ts';

/** How much memory all vectors take together at most, by default. */
const defaultLimitBytes = 512 * 2 ** 20;

/** One field's vectors that are in memory. */
export interface KeptVectors {
  readonly rows: VectorRows;
  /** Runs work that adds vectors, one call after the other: two searches at once would load the same vectors. */
  adding<T>(work: () => Promise<T>): Promise<T>;
  /** Whether one more vector fits. Drops the least recently searched fields to make room. */
  hasRoom(): boolean;
}

/** Keeps vectors in memory, up to a limit. */
export interface VectorMemory {
  /**
   * Returns a field's vectors. `storage` is the id of the table's file. In another file the rows are in other places,
   * so its change drops the kept vectors.
   */
  open(field: { readonly name: string; readonly storage: string; readonly dimensions: number }): KeptVectors;
}

interface Entry {
  readonly storage: string;
  readonly kept: KeptVectors;
}

/** Creates an empty memory. */
export function createVectorMemory(limitBytes = defaultLimitBytes): VectorMemory {
  /** By field name; the least recently searched one first. */
  const entries = new Map<string, Entry>();

  function hasRoomFor(rows: VectorRows): boolean {
    for (;;) {
      let bytes = rows.bytesOfChunk;
      for (const { kept } of entries.values()) bytes += kept.rows.bytes;
      if (bytes <= limitBytes) return true;
      const [oldest] = entries;
      if (!oldest || oldest[1].kept.rows === rows) return false;
      entries.delete(oldest[0]);
    }
  }

  function createEntry(storage: string, dimensions: number): Entry {
    const rows = new VectorRows(dimensions);
    let last: Promise<unknown> = Promise.resolve();
    const adding = <T>(work: () => Promise<T>): Promise<T> => {
      const next = last.then(work);
      last = next.catch(() => {});
      return next;
    };
    return { storage, kept: { rows, adding, hasRoom: () => hasRoomFor(rows) } };
  }

  return {
    open({ name, storage, dimensions }) {
      const key = `${name}/${dimensions}`;
      const known = entries.get(key);
      const entry = known?.storage === storage ? known : createEntry(storage, dimensions);
      entries.delete(key);
      entries.set(key, entry);
      return entry.kept;
    },
  };
}
