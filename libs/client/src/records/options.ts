import type { Progress } from '../exchange.ts';
import type { CallOptions } from '../transport.ts';
import type { ExpandPath } from '../types/expand.ts';
import type { FieldName } from '../types/fields.ts';
import type { FilterOf } from '../types/filter-fields.ts';
import type { RecordOf } from '../types/schema.ts';
import type { IfMatch } from '../versions.ts';

/** A sort term: a field, or any other term as text; `-` sorts descending. */
type SortTerm<S, C extends keyof S> =
  | (keyof RecordOf<S, C> & string)
  | `-${keyof RecordOf<S, C> & string}`
  | (string & {});

/** The members and related records that an answer shows. */
export interface ShapeOptions<P extends string, F extends string> extends CallOptions {
  /** Paths to related records to show under `expand`, typed for three steps. */
  readonly expand?: readonly P[] | undefined;
  /** The members to show, in addition to `id`. */
  readonly fields?: readonly F[] | undefined;
}

/** Checks the paths and names in `ShapeOptions`, which infer them. */
export interface ShapeCheck<S, C extends keyof S, P extends string, F extends string> {
  readonly expand?: readonly ExpandPath<S, C, P>[] | undefined;
  readonly fields?: readonly (F & FieldName<S, C>)[] | undefined;
}

/** Selects a list's records. */
export interface SelectOptions<S, C extends keyof S> {
  readonly filter?: FilterOf<S, C> | undefined;
  readonly sort?: SortTerm<S, C> | readonly SortTerm<S, C>[] | undefined;
}

/** A search for the records with the nearest vectors. */
export interface Near {
  readonly vector: readonly number[];
  readonly field: string;
  readonly limit?: number | undefined;
  readonly minScore?: number | undefined;
}

export interface PageOptions {
  readonly page?: number | undefined;
  readonly perPage?: number | undefined;
}

export interface ListOptions<S, C extends keyof S> extends SelectOptions<S, C>, PageOptions {
  /** Skips the count; the totals are -1. */
  readonly skipTotal?: boolean | undefined;
  readonly near?: Near | undefined;
  /** Lists only these records; `sort: 'ids'` keeps their order. */
  readonly ids?: readonly string[] | undefined;
}

/** A list page. */
export interface Page<R> {
  readonly data: readonly R[];
  readonly page: number;
  readonly perPage: number;
  readonly totalItems: number;
  readonly totalPages: number;
}

export interface WriteOptions extends CallOptions {
  /** Called while a form with files is sent. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** The idempotency key; a new one by default. */
  readonly idempotencyKey?: string | undefined;
}

export interface ChangeOptions extends WriteOptions {
  /** The current version's ETag; false for any. The default is the version that the record was read in. */
  readonly ifMatch?: IfMatch;
}

/** One record version. */
export interface HistoryRow<R> {
  readonly id: string;
  readonly op: 'create' | 'update' | 'delete';
  readonly snapshot: R;
  readonly actor_type: string;
  readonly actor_id: string | null;
  readonly at: number;
  readonly version: string;
}

/** The version to restore: a history row's, or the last one at or before a second. */
export type RestorePoint = ({ readonly version: string } | { readonly at: number }) & {
  /** Whether a deleted record is created again. */
  readonly deleted?: boolean | undefined;
};

/** The groups and values of an aggregate. */
export interface AggregateOptions<S, C extends keyof S> extends CallOptions, PageOptions {
  /** Fields, paths, and periods such as `month(sold)`. */
  readonly group?: readonly string[] | undefined;
  readonly count?: boolean | undefined;
  /** Fields, or calculations such as `price * amount`. */
  readonly sum?: readonly string[] | undefined;
  readonly avg?: readonly string[] | undefined;
  readonly min?: readonly string[] | undefined;
  readonly max?: readonly string[] | undefined;
  readonly filter?: FilterOf<S, C> | undefined;
  /** An expression over the answer's members. */
  readonly having?: string | { toString(): string } | undefined;
  readonly sort?: string | readonly string[] | undefined;
  /** The time zone for periods; UTC by default. */
  readonly timeZone?: string | undefined;
}
