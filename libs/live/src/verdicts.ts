/** A record event on the stream. */
export interface LiveEvent {
  /** The event's id. */
  readonly id: string;
  /** The record's id, only for a large event. It comes from the header `ce-subject`, after the collection. */
  readonly record?: string | undefined;
  readonly verb: 'create' | 'update' | 'delete';
  readonly version: string;
  /** Its record's shape (events §2.2); undefined for an event from an earlier release. */
  readonly schema?: string | undefined;
  /** The text in its `data`; undefined for a large event, which the records service reads by its id. */
  readonly data?: string | undefined;
}

/** Indexes in the caller list; `all` if the decision does not depend on them. */
export type Callers = readonly number[] | 'all';

/** The view of a record that these callers share. */
export interface ShownRecord {
  readonly callers: Callers;
  /** JSON text, the same as in a get's answer. */
  readonly json: string;
  /** The changed fields that the record shows; only for updates. */
  readonly changed?: readonly string[];
}

/** The verdict on an event for the callers. */
export interface EventVerdict {
  /** The callers whose subscription the record matched before the write. A delete is judged by the last state. */
  readonly before: Callers;
  /** The callers whose subscription it matches now; none for a delete. */
  readonly now: Callers;
  /** One entry for each different view of the record; together they cover `now`. */
  readonly records: readonly ShownRecord[];
  /**
   * Whether nothing is known about the event, since its collection has changed or its encrypted values are no longer kept.
   * Readers then read the records again.
   */
  readonly isLost?: boolean | undefined;
}

/**
 * One verdict for each event, in order. `stale` if the request now has another plan, because the schema has changed:
 * open it again.
 */
export type Verdicts =
  | { readonly isStale: true }
  | { readonly isStale: false; readonly events: readonly EventVerdict[] };
