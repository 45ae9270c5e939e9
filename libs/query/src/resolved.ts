import type { Collection, Field, ValueKind } from '@recordbus/schema';
import type { Moment, Operator } from './ast.ts';

/** An expression with all names looked up and both sides of each comparison of one kind. */
export type Resolved =
  | { readonly kind: 'all' | 'any'; readonly items: readonly Resolved[] }
  /** The same for every record and request. */
  | { readonly kind: 'decided'; readonly holds: boolean }
  /** A test for null; with `isNegated` a test for a value. */
  | { readonly kind: 'nullTest'; readonly operand: Source; readonly isNegated: boolean }
  | ResolvedComparison;

export interface ResolvedComparison {
  readonly kind: 'comparison';
  readonly operator: Operator;
  readonly left: Source;
  readonly right: Source;
  /** The kind of the comparison; with `list`, the left is a list and the right a text. */
  readonly as: ValueKind;
}

/** The source of the value of one side. */
export type Source = Constant | MomentSource | Column | RequestValue | IsSet | Changed;

export interface Constant {
  readonly source: 'constant';
  readonly kind: Scalar;
  /** JSON text when the kind is `json`. */
  readonly value: string | number | boolean;
}

/** The kinds that a parameter can have. */
export type Scalar = Exclude<ValueKind, 'list' | 'vector'>;

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
  readonly kind: ValueKind;
  /** Keys into a JSON value. */
  readonly keys: readonly string[];
  readonly isLowered: boolean;
  /** Whether an index serves substring search. */
  readonly isSearchable: boolean;
}

/** A relation that is followed. */
export interface Hop {
  /** Column that holds the target's id, quoted. */
  readonly column: string;
  readonly target: Collection;
  /** The condition under which a target is visible; undefined when every target is. */
  readonly guard: Resolved | undefined;
}

/** A value of the request, which is a parameter, so one statement serves every caller. */
export interface RequestValue {
  readonly source: 'request';
  readonly part: RequestPart;
  readonly path: readonly string[];
  readonly kind: Scalar | 'list';
  readonly isLowered: boolean;
}

export type RequestPart = 'auth' | 'body' | 'query' | 'headers' | 'method';

/** `:isset`: whether the request has the value, null included. */
export interface IsSet {
  readonly source: 'isset';
  readonly part: RequestPart;
  readonly path: readonly string[];
}

/** `:changed`: whether the body has a value that differs from the stored one. */
interface Changed {
  readonly source: 'changed';
  readonly field: Field;
}
