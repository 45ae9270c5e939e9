import type { Filter } from '../filter/filter.ts';
import type { Value } from '../filter/literal.ts';
import type { CollectionName, ExpandOf, RecordOf } from './schema.ts';

/** Any operand: a field, or a value computed from one. */
interface AnyOperand {
  readonly lower: unknown;
  readonly all: unknown;
  readonly none: unknown;
}

/** The values that a field may be compared with: its own kind, a time for a number, or another field. */
type Compared<V> = V | (number extends V ? Date : never) | AnyOperand;

/** The single values of a list. */
type Item<V> = V extends readonly (infer I)[] ? I : V;

/** The tests of an operand. `V` is the type of its value. */
export interface Tests<V> {
  eq(value: Compared<Item<V>> | null): Filter;
  /** Not equal; also holds for a record without a value. */
  ne(value: Compared<Item<V>> | null): Filter;
  gt(value: Compared<Item<V>>): Filter;
  gte(value: Compared<Item<V>>): Filter;
  lt(value: Compared<Item<V>>): Filter;
  lte(value: Compared<Item<V>>): Filter;
  /** Contains the text, ignoring case. */
  contains(value: string | AnyOperand): Filter;
  notContains(value: string | AnyOperand): Filter;
  /** Is one of the values; never holds for an empty list. */
  in(values: readonly Item<V>[] | AnyOperand): Filter;
  /** The text in lower case. */
  readonly lower: Tests<string>;
  /** The number of characters of a text, or of entries of a list. */
  readonly length: Tests<number>;
  /** `f.tags.all.ne('old')`: the test holds for every value. */
  readonly all: Tests<V>;
  /** `f.tags.none.contains('old')`: the test holds for no value. */
  readonly none: Tests<V>;
  /** A path into a JSON value: `f.meta.at('size', 0)`. */
  at(...keys: readonly (string | number)[]): Tests<Value>;
}

/** A field, and through a relation the fields of its target. */
type FieldTests<S, C extends keyof S, K> = Tests<
  K extends keyof RecordOf<S, C> ? NonNullable<RecordOf<S, C>[K]> : string
> &
  (K extends keyof ExpandOf<S, C> ? TargetFields<S, NonNullable<ExpandOf<S, C>[K]>> : unknown);

type TargetFields<S, E> = E extends readonly [infer T]
  ? Members<S, T & CollectionName<S>>
  : Members<S, E & CollectionName<S>>;

/** The fields of a collection, and its relations and back-relations. */
type Members<S, C extends keyof S> = {
  readonly [K in keyof RecordOf<S, C> | keyof ExpandOf<S, C>]-?: FieldTests<S, C, K>;
} & {
  /** A field whose name is that of a test: `f.field('in')`. */
  field<K extends keyof RecordOf<S, C> & string>(name: K): FieldTests<S, C, K>;
};

interface Tools<S, C extends keyof S> {
  /** Holds if all filters hold. `undefined` and `false` are left out. */
  and(...filters: readonly (Filter | undefined | false)[]): Filter;
  or(...filters: readonly (Filter | undefined | false)[]): Filter;
  /** The exact opposite. */
  not(filter: Filter): Filter;
  /** The number of records at the end of a path, or of entries of a list. */
  count(path: AnyOperand): Tests<number>;
  /** The distance of a `geoPoint` from a point, in kilometers. */
  distance(field: AnyOperand, lat: number, lng: number): Tests<number>;
  /** Whether some record of another collection meets the condition; `record` is the enclosing record. */
  exists<T extends CollectionName<S>>(
    collection: T,
    condition: (fields: FilterFields<S, T> & { readonly record: Members<S, C> }) => Filter,
  ): Filter;
  /** A field whose name is that of a tool: `f.field('count')`. */
  field<K extends keyof RecordOf<S, C> & string>(name: K): FieldTests<S, C, K>;
}

/** The argument of the function in `filter`: the fields of the collection, and tools such as `and`, `or` and `not`. */
export type FilterFields<S, C extends keyof S> = Tools<S, C> & Omit<Members<S, C>, keyof Tools<S, C>>;

/** A filter: text, f`…`, or a function of the fields. */
export type FilterOf<S, C extends keyof S> = string | Filter | ((fields: FilterFields<S, C>) => Filter);
