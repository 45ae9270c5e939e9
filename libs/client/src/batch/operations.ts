import type { Subject, UpsertTarget } from '../records/collection.ts';
import type { CollectionName, CreateOf, RecordOf, UpdateOf } from '../types/schema.ts';
import type { IfMatch } from '../versions.ts';

declare const value: unique symbol;

/** A value that an earlier operation in the batch will have. */
export interface Reference<V = unknown> {
  readonly $ref: string;
  readonly [value]?: V;
}

/** Values that may be references, or lists with references. */
export type WithReferences<T> = {
  readonly [K in keyof T]:
    | T[K]
    | Reference
    | (T[K] extends readonly (infer I)[] | null | undefined ? readonly (I | Reference)[] : never);
};

/** A batch operation whose result is a record. */
export interface Operation<R> {
  /** A result's value, for later operations' values and ids. */
  ref<K extends keyof R & string>(member: K): Reference<R[K]>;
}

/** An operation without a result. */
export interface DeleteOperation {
  readonly deletes: true;
}

interface ExpectedVersion {
  /** The current version's ETag; false for any. The default is the version that the record was read in. */
  readonly ifMatch?: IfMatch;
}

/** The operations on one collection. */
export interface BatchCollection<S, C extends keyof S> {
  create(
    values: WithReferences<CreateOf<S, C>>,
    options?: { readonly id?: string | undefined },
  ): Operation<RecordOf<S, C>>;
  update(
    subject: Subject | Reference<string>,
    changes: WithReferences<UpdateOf<S, C>>,
    options?: ExpectedVersion,
  ): Operation<RecordOf<S, C>>;
  upsert(
    target: UpsertTarget<RecordOf<S, C>> | Reference<string>,
    values: WithReferences<CreateOf<S, C> | UpdateOf<S, C>>,
    options?: ExpectedVersion,
  ): Operation<RecordOf<S, C>>;
  delete(subject: Subject | Reference<string>, options?: ExpectedVersion): DeleteOperation;
}

/** Collects a batch's operations. */
export interface Batch<S> {
  from<C extends CollectionName<S>>(collection: C): BatchCollection<S, C>;
}

/** The results of the operations that a function returns: records, and null for deletes. */
export type Results<T> =
  T extends Operation<infer R>
    ? R
    : T extends DeleteOperation
      ? null
      : T extends readonly unknown[]
        ? { readonly [K in keyof T]: Results<T[K]> }
        : T extends object
          ? { readonly [K in keyof T]: Results<T[K]> }
          : T;
