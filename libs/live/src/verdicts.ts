/** An event of a record, as the stream has it. */
export interface LiveEvent {
  /** The id of the event. */
  readonly id: string;
  /** The id of the record, for a large event: it is in the header `ce-subject`, after the collection. */
  readonly record?: string | undefined;
  readonly verb: 'create' | 'update' | 'delete';
  readonly version: string;
  /** The text of its `data`; undefined for a large event, which records reads by its id. */
  readonly data?: string | undefined;
}

/** Positions in the list of callers; `all` where the decision does not depend on them. */
export type Callers = readonly number[] | 'all';

/** A record as these callers may see it. */
export interface ShownRecord {
  readonly callers: Callers;
  /** JSON text, the same as in the answer of a get. */
  readonly json: string;
  /** The names of the changed fields that the record shows; only for updates. */
  readonly changed?: readonly string[];
}

/** What an event means for the callers. */
export interface EventVerdict {
  /** Those for whom the record matched before the write. For a delete this is judged by the last state. */
  readonly before: Callers;
  /** Those for whom it matches now; nobody for a delete. */
  readonly now: Callers;
  /** One entry for each different view of the record; together they cover `now`. */
  readonly records: readonly ShownRecord[];
  /**
   * The version of `records`. It is later than that of the event where values of the stored record were needed and a
   * newer version is stored already.
   */
  readonly version: string;
}

/** One verdict for each event, in order. `stale` where the schema gives the request another plan now: open it again. */
export type Verdicts =
  | { readonly isStale: true }
  | { readonly isStale: false; readonly events: readonly EventVerdict[] };
