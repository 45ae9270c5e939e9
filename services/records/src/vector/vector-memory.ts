import { VectorRows } from './vector-rows.ts';

/** All vectors in memory together take no more than this, unless told otherwise. */
const defaultLimitBytes = 512 * 2 ** 20;

/** The vectors of one field that are in memory. */
export interface KeptVectors {
  readonly rows: VectorRows;
  /** Does work that adds vectors, one after the other: two searches would load the same ones. */
  adding<T>(work: () => Promise<T>): Promise<T>;
  /** Is there memory for one more? What has not been searched for the longest time makes room. */
  hasRoom(): boolean;
}

/** Keeps vectors in memory, as many as it may. */
export interface VectorMemory {
  /**
   * The vectors of a field. `storage` names the file that holds the table: another one has its rows in other places, so
   * what was kept of them is dropped.
   */
  open(field: { readonly name: string; readonly storage: string; readonly dimensions: number }): KeptVectors;
}

interface Entry {
  readonly storage: string;
  readonly kept: KeptVectors;
}

/** Makes an empty memory. */
export function createVectorMemory(limitBytes = defaultLimitBytes): VectorMemory {
  /** By the field's name; the one that was searched last is the last. */
  const entries = new Map<string, Entry>();

  function hasRoomFor(rows: VectorRows): boolean {
    for (;;) {
      let bytes = rows.bytesOfPiece;
      for (const { kept } of entries.values()) bytes += kept.rows.bytes;
      if (bytes <= limitBytes) return true;
      const [oldest] = entries;
      if (!oldest || oldest[1].kept.rows === rows) return false;
      entries.delete(oldest[0]);
    }
  }

  function makeEntry(storage: string, dimensions: number): Entry {
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
      const entry = known?.storage === storage ? known : makeEntry(storage, dimensions);
      entries.delete(key);
      entries.set(key, entry);
      return entry.kept;
    },
  };
}
