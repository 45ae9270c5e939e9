import { product } from './cosine.ts';

/** A row version: its place in the table, and the transaction that wrote it. */
export interface RowVersion {
  /** The row's block and offset (`ctid`) as one number. */
  readonly place: number;
  /** The row's `xmin`. */
  readonly transaction: number;
}

/** Memory is allocated in chunks of about this size. */
const chunkBytes = 2 ** 20;
/** Memory that a row takes in addition to its components: its id, and its entries in the maps. */
const overheadBytes = 200;

const free = 0;
const live = 1;
const retired = 2;

/**
 * A field's vectors in memory, as unit vectors in single precision, each with its row's version. The same place and
 * transaction mean the same row with the same values, since PostgreSQL never changes a row in place. An outdated vector
 * is retired at once, but stays readable while a search may still read it.
 */
export class VectorRows {
  readonly #dimensions: number;
  readonly #shift: number;
  readonly #chunks: Float32Array[] = [];
  readonly #ids: string[] = [];
  readonly #places: number[] = [];
  readonly #transactions: number[] = [];
  readonly #states: number[] = [];
  readonly #slotOfPlace = new Map<number, number>();
  readonly #slotOfId = new Map<string, number>();
  readonly #free: number[] = [];
  #retired: number[] = [];
  #readers = 0;

  constructor(dimensions: number) {
    this.#dimensions = dimensions;
    this.#shift = Math.max(4, Math.floor(Math.log2(chunkBytes / (dimensions * 4))));
  }

  /** How many vectors are current. */
  get count(): number {
    return this.#slotOfId.size;
  }

  /** Bytes in use. */
  get bytes(): number {
    return this.#chunks.length * this.bytesOfChunk + this.#ids.length * overheadBytes;
  }

  /** Bytes that the next vector may take. */
  get bytesOfChunk(): number {
    return this.#dimensions * 4 * 2 ** this.#shift;
  }

  /** Finds a row version's slot. */
  find({ place, transaction }: RowVersion): number | undefined {
    const slot = this.#slotOfPlace.get(place);
    return slot !== undefined && this.#transactions[slot] === transaction ? slot : undefined;
  }

  idOf(slot: number): string {
    return this.#ids[slot] ?? '';
  }

  /** The scalar product of a slot's vector with another. */
  product(slot: number, query: Float64Array): number {
    const chunk = this.#chunks[slot >> this.#shift];
    if (!chunk) throw new Error(`there is no vector ${slot}`);
    return product(query, chunk, (slot & (2 ** this.#shift - 1)) * this.#dimensions);
  }

  /** Adds a row version's unit vector, and retires the row's earlier version. */
  put({ place, transaction }: RowVersion, id: string, unitVector: Float64Array): void {
    this.#retire(this.#slotOfId.get(id));
    this.#retire(this.#slotOfPlace.get(place));
    const slot = this.#free.pop() ?? this.#ids.length;
    const chunk = this.#chunks[slot >> this.#shift] ?? this.#addChunk();
    chunk.set(unitVector, (slot & (2 ** this.#shift - 1)) * this.#dimensions);
    this.#ids[slot] = id;
    this.#places[slot] = place;
    this.#transactions[slot] = transaction;
    this.#states[slot] = live;
    this.#slotOfPlace.set(place, slot);
    this.#slotOfId.set(id, slot);
  }

  /** Retires every vector whose slot is not given. */
  keepOnly(slots: Iterable<number>): void {
    const seen = new Set(slots);
    for (const slot of this.#slotOfId.values()) if (!seen.has(slot)) this.#retire(slot);
  }

  /** Runs work that reads slots. Vectors that are retired meanwhile stay readable. */
  async reading<T>(work: () => Promise<T>): Promise<T> {
    this.#readers += 1;
    try {
      return await work();
    } finally {
      this.#readers -= 1;
      if (this.#readers === 0) {
        for (const slot of this.#retired) this.#states[slot] = free;
        this.#free.push(...this.#retired.splice(0));
        this.#retired = [];
      }
    }
  }

  #retire(slot: number | undefined): void {
    if (slot === undefined || this.#states[slot] !== live) return;
    this.#states[slot] = retired;
    this.#retired.push(slot);
    const [id, place] = [this.#ids[slot] ?? '', this.#places[slot] ?? -1];
    if (this.#slotOfId.get(id) === slot) this.#slotOfId.delete(id);
    if (this.#slotOfPlace.get(place) === slot) this.#slotOfPlace.delete(place);
  }

  #addChunk(): Float32Array {
    const chunk = new Float32Array(this.#dimensions * 2 ** this.#shift);
    this.#chunks.push(chunk);
    return chunk;
  }
}
