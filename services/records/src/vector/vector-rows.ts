import { product } from './cosine.ts';

/** Which version of a row a vector is of: where it stands in the table, and the transaction that wrote it. */
export interface RowVersion {
  /** Block and offset of the row (`ctid`) as one number. */
  readonly place: number;
  /** The row's `xmin`. */
  readonly transaction: number;
}

/** Memory is taken in pieces of about this size. */
const pieceBytes = 2 ** 20;
/** What a row costs beside its components: its id, and its entries in the maps. */
const bytesBesides = 200;

const free = 0;
const live = 1;
const retired = 2;

/**
 * The vectors of a field in memory, as unit vectors in single precision, each with the version of the row that it is of.
 * A row of the same place and transaction is the same row with the same values: PostgreSQL never changes one, it writes
 * another. What is no longer current is retired at once, but kept while a search may still be reading it.
 */
export class VectorRows {
  readonly #dimensions: number;
  readonly #shift: number;
  readonly #pieces: Float32Array[] = [];
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
    this.#shift = Math.max(4, Math.floor(Math.log2(pieceBytes / (dimensions * 4))));
  }

  /** How many current vectors there are. */
  get count(): number {
    return this.#slotOfId.size;
  }

  /** Memory in use. */
  get bytes(): number {
    return this.#pieces.length * this.bytesOfPiece + this.#ids.length * bytesBesides;
  }

  /** Memory that the next vector may take. */
  get bytesOfPiece(): number {
    return this.#dimensions * 4 * 2 ** this.#shift;
  }

  /** Finds the slot of a row's version. */
  find({ place, transaction }: RowVersion): number | undefined {
    const slot = this.#slotOfPlace.get(place);
    return slot !== undefined && this.#transactions[slot] === transaction ? slot : undefined;
  }

  idOf(slot: number): string {
    return this.#ids[slot] ?? '';
  }

  /** The scalar product of a slot's vector with another. */
  product(slot: number, query: Float64Array): number {
    const piece = this.#pieces[slot >> this.#shift];
    if (!piece) throw new Error(`there is no vector ${slot}`);
    return product(query, piece, (slot & (2 ** this.#shift - 1)) * this.#dimensions);
  }

  /** Adds the unit vector of a row's version, in the place of an earlier version of that row. */
  put({ place, transaction }: RowVersion, id: string, unitVector: Float64Array): void {
    this.#retire(this.#slotOfId.get(id));
    this.#retire(this.#slotOfPlace.get(place));
    const slot = this.#free.pop() ?? this.#ids.length;
    const piece = this.#pieces[slot >> this.#shift] ?? this.#addPiece();
    piece.set(unitVector, (slot & (2 ** this.#shift - 1)) * this.#dimensions);
    this.#ids[slot] = id;
    this.#places[slot] = place;
    this.#transactions[slot] = transaction;
    this.#states[slot] = live;
    this.#slotOfPlace.set(place, slot);
    this.#slotOfId.set(id, slot);
  }

  /** Retires every vector whose slot is not among those given: the rows that are all there are. */
  keepOnly(slots: Iterable<number>): void {
    const seen = new Set(slots);
    for (const slot of this.#slotOfId.values()) if (!seen.has(slot)) this.#retire(slot);
  }

  /** Does work that reads slots; what is retired meanwhile stays readable. */
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

  #addPiece(): Float32Array {
    const piece = new Float32Array(this.#dimensions * 2 ** this.#shift);
    this.#pieces.push(piece);
    return piece;
  }
}
