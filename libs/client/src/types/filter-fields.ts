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

/** A list's single values. */
type Item<V> = V extends readonly (infer I)[] ? I : V;

/** An operand's tests. `V` is its value's type. */
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
  /** Equals one value; never holds for an empty list. */
  in(values: readonly Item<V>[] | AnyOperand): Filter;
  /** The text in lower case. */
  readonly lower: Tests<string>;
  /** How many characters a text has, or entries a list. */
  readonly length: Tests<number>;
  /** `f.tags.all.ne('old')`: the test holds for every value. */
  readonly all: Tests<V>;
  /** `f.tags.none.contains('old')`: the test holds for no value. */
  readonly none: Tests<V>;
  /** A path into a JSON value: `f.meta.at('size', 0)`. */
  at(...keys: readonly (string | number)[]): Tests<Value>;
}

/** A field, and through a relation its target's fields. */
type FieldTests<S, C extends keyof S, K> = Tests<
  K extends keyof RecordOf<S, C> ? NonNullable<RecordOf<S, C>[K]> : string
> &
  (K extends keyof ExpandOf<S, C> ? TargetFields<S, NonNullable<ExpandOf<S, C>[K]>> : unknown);

type TargetFields<S, E> = E extends readonly [infer T]
  ? Members<S, T & CollectionName<S>>
  : Members<S, E & CollectionName<S>>;

/** A collection's fields, relations and back-relations. */
type Members<S, C extends keyof S> = {
  readonly [K in keyof RecordOf<S, C> | keyof ExpandOf<S, C>]-?: FieldTests<S, C, K>;
} & {
  /** A field with a test's name: `f.field('in')`. */
  field<K extends keyof RecordOf<S, C> & string>(name: K): FieldTests<S, C, K>;
};

interface Tools<S, C extends keyof S> {
  /** Holds if all filters hold. `undefined` and `false` are left out. */
  and(...filters: readonly (Filter | undefined | false)[]): Filter;
  or(...filters: readonly (Filter | undefined | false)[]): Filter;
  /** The exact opposite. */
  not(filter: Filter): Filter;
  /** How many records are at a path's end, or entries in its lists. */
  count(path: AnyOperand): Tests<number>;
  /** A `geoPoint`'s distance from a point, in kilometers. */
  distance(field: AnyOperand, lat: number, lng: number): Tests<number>;
  /** Whether some record in another collection meets the condition; `record` is the enclosing record. */
  exists<T extends CollectionName<S>>(
    collection: T,
    condition: (fields: FilterFields<S, T> & { readonly record: Members<S, C> }) => Filter,
  ): Filter;
  /** A field with a tool's name: `f.field('count')`. */
  field<K extends keyof RecordOf<S, C> & string>(name: K): FieldTests<S, C, K>;
}

/** The argument for the function in `filter`: the collection's fields, and tools such as `and`, `or` and `not`. */
export type FilterFields<S, C extends keyof S> = Tools<S, C> & Omit<Members<S, C>, keyof Tools<S, C>>;

/** A filter: text, f`…`, or a function over the fields. */
export type FilterOf<S, C extends keyof S> = string | Filter | ((fields: FilterFields<S, C>) => Filter);
