import type { Collection, Field } from '@recordbus/schema';
import type { Moment, Operator } from './ast.ts';
import type { Kind } from './kind.ts';

/** An expression with every name looked up and both sides of each comparison read as one kind. */
export type Resolved =
  | { readonly kind: 'all' | 'any'; readonly items: readonly Resolved[] }
  /** Decided whatever the record and the request are. */
  | { readonly kind: 'decided'; readonly holds: boolean }
  /** A test for null; `isNegated` asks for a value. */
  | { readonly kind: 'nullTest'; readonly operand: Source; readonly isNegated: boolean }
  | ResolvedComparison;

export interface ResolvedComparison {
  readonly kind: 'comparison';
  readonly operator: Operator;
  readonly left: Source;
  readonly right: Source;
  /** As what the two are compared; `list` asks a list on the left for a text on the right. */
  readonly as: Kind;
}

/** Where one side of a comparison gets its value from. */
export type Source = Constant | MomentSource | Column | RequestValue | IsSet | Changed;

export interface Constant {
  readonly source: 'constant';
  readonly kind: Scalar;
  /** JSON text when the kind is `json`. */
  readonly value: string | number | boolean;
}

/** The kinds that a parameter can have. */
export type Scalar = Exclude<Kind, 'list' | 'vector'>;

interface MomentSource {
  readonly source: 'moment';
  readonly name: Moment['name'];
}

export interface Column {
  readonly source: 'column';
  /** The relations to follow, in order; none for a column of the record itself. */
  readonly hops: readonly Hop[];
  /** Name of the column, quoted. */
  readonly column: string;
  readonly kind: Kind;
  /** Keys into a JSON value. */
  readonly keys: readonly string[];
  readonly isLowered: boolean;
  /** Has it an index that serves substring search? */
  readonly isSearchable: boolean;
}

/** A relation that is followed. */
export interface Hop {
  /** Column that holds the target's id, quoted. */
  readonly column: string;
  readonly target: Collection;
  /** What a target has to satisfy to be seen; undefined when every target is. */
  readonly guard: Resolved | undefined;
}

/** A value that comes with the request and is a parameter, so one statement serves every caller. */
export interface RequestValue {
  readonly source: 'request';
  readonly part: RequestPart;
  readonly path: readonly string[];
  readonly kind: Scalar | 'list';
  readonly isLowered: boolean;
}

export type RequestPart = 'auth' | 'body' | 'query' | 'headers' | 'method';

/** `:isset`: did the request bring this value, be it null? */
export interface IsSet {
  readonly source: 'isset';
  readonly part: RequestPart;
  readonly path: readonly string[];
}

/** `:changed`: does the body bring a value that differs from the stored one? */
interface Changed {
  readonly source: 'changed';
  readonly field: Field;
}
