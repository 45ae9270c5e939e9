import type { Progress } from '../exchange.ts';
import type { CallOptions } from '../transport.ts';
import type { ExpandPath } from '../types/expand.ts';
import type { FieldName } from '../types/fields.ts';
import type { FilterOf } from '../types/filter-fields.ts';
import type { RecordOf } from '../types/schema.ts';
import type { IfMatch } from '../versions.ts';

/** A term of a sort: a field, or any other term as text; `-` sorts descending. */
type SortTerm<S, C extends keyof S> =
  | (keyof RecordOf<S, C> & string)
  | `-${keyof RecordOf<S, C> & string}`
  | (string & {});

/** The members and related records that an answer shows. */
export interface ShapeOptions<P extends string, F extends string> extends CallOptions {
  /** Paths of related records to show under `expand`, typed for three steps. */
  readonly expand?: readonly P[] | undefined;
  /** The members to show, in addition to `id`. */
  readonly fields?: readonly F[] | undefined;
}

/** Checks the paths and names of `ShapeOptions`, which infer them. */
export interface ShapeCheck<S, C extends keyof S, P extends string, F extends string> {
  readonly expand?: readonly ExpandPath<S, C, P>[] | undefined;
  readonly fields?: readonly (F & FieldName<S, C>)[] | undefined;
}

/** Selects the records of a list. */
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
}

/** A page of a list. */
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
  /** The ETag of the version to change; false for any. The default is the version of the record that was read. */
  readonly ifMatch?: IfMatch;
}

/** One version of a record. */
export interface HistoryRow<R> {
  readonly id: string;
  readonly op: 'create' | 'update' | 'delete';
  readonly snapshot: R;
  readonly actor_type: string;
  readonly actor_id: string | null;
  readonly at: number;
  readonly version: string;
}

/** The version to restore: that of a history row, or the last one at or before a second. */
export type RestorePoint = ({ readonly version: string } | { readonly at: number }) & {
  /** Whether a deleted record is created again. */
  readonly deleted?: boolean | undefined;
};

/** The groups and values of an aggregate. */
export interface AggregateOptions<S, C extends keyof S> extends CallOptions, PageOptions {
  /** Fields, paths, and periods such as `month(sold)`. */
  readonly group?: readonly string[] | undefined;
  readonly count?: boolean | undefined;
  readonly sum?: readonly string[] | undefined;
  readonly avg?: readonly string[] | undefined;
  readonly min?: readonly string[] | undefined;
  readonly max?: readonly string[] | undefined;
  readonly filter?: FilterOf<S, C> | undefined;
  /** An expression over the members of the answer. */
  readonly having?: string | { toString(): string } | undefined;
  readonly sort?: string | readonly string[] | undefined;
  /** The time zone of periods; UTC by default. */
  readonly timeZone?: string | undefined;
}
