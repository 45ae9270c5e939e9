/** A parsed expression, before names are looked up. Positions are offsets in the text, from 0. */
export type Expression = Junction | Negation | Test | Quantified | Exists;

/** At least two expressions, joined by `&&` (all) or `||` (any). */
interface Junction {
  readonly kind: 'all' | 'any';
  readonly items: readonly Expression[];
}

/** `not (…)`: an expression's complement. */
interface Negation {
  readonly kind: 'not';
  readonly item: Expression;
}

/** A test on values. */
export type Test = Comparison | Membership;

export const operators = ['=', '!=', '>', '>=', '<', '<=', '~', '!~'] as const;
export type Operator = (typeof operators)[number];

export interface Comparison {
  readonly kind: 'comparison';
  readonly operator: Operator;
  readonly left: Operand;
  readonly right: Operand;
}

/** `left in ("a", "b")`, or `left in <path to several values>`. */
export interface Membership {
  readonly kind: 'in';
  readonly left: Operand;
  /** The items in parentheses, or the path. */
  readonly among: readonly Operand[] | Path | RequestPath | OwnerPath;
  /** The position of the word `in`. */
  readonly position: number;
}

/** `all(…)` or `none(…)` around a test whose left side is a path to several values. */
export interface Quantified {
  readonly kind: 'quantified';
  readonly quantifier: 'all' | 'none';
  readonly test: Test;
  readonly position: number;
}

/** `exists(collection, condition)`. */
export interface Exists {
  readonly kind: 'exists';
  readonly collection: string;
  readonly condition: Expression;
  /** The position of the collection's name. */
  readonly position: number;
}

export type Operand = Literal | Moment | Path | RequestPath | OwnerPath | Count | Distance;

export type Literal =
  | { readonly kind: 'text'; readonly value: string; readonly position: number }
  /** The number as written, since it may be read as text. */
  | { readonly kind: 'number'; readonly digits: string; readonly position: number }
  | { readonly kind: 'bool'; readonly value: boolean; readonly position: number }
  | { readonly kind: 'null'; readonly position: number };

export const moments = [
  'now',
  'todayStart',
  'todayEnd',
  'yesterday',
  'tomorrow',
  'monthStart',
  'monthEnd',
  'yearStart',
  'yearEnd',
] as const;
export type MomentName = (typeof moments)[number];

/** A moment by the clock. Days, months and years are in UTC (filters §6.3). */
export interface Moment {
  readonly kind: 'moment';
  readonly name: MomentName;
  /** Added to the time, in seconds. */
  readonly shiftSec: number;
  readonly position: number;
}

export const modifiers = ['lower', 'length', 'isset', 'changed'] as const;
export type Modifier = (typeof modifiers)[number];

/** A field, or a path to one over relations. Within `exists`, the segment `record` leads to the outer record. */
export interface Path {
  readonly kind: 'path';
  readonly segments: readonly string[];
  readonly modifier?: Modifier;
  readonly position: number;
}

/** A request value: `@request.` and the segments. */
export interface RequestPath {
  readonly kind: 'request';
  readonly segments: readonly string[];
  readonly modifier?: Modifier;
  readonly position: number;
}

/** A value of the record that owns a webhook: `@owner.` and the segments (webhooks §9.2). */
export interface OwnerPath {
  readonly kind: 'owner';
  readonly segments: readonly string[];
  readonly modifier?: Modifier;
  readonly position: number;
}

/** `count(path)`. */
interface Count {
  readonly kind: 'count';
  readonly of: Path | RequestPath;
  readonly position: number;
}

/** `distance(path, lat, lng)`, in degrees. */
interface Distance {
  readonly kind: 'distance';
  readonly of: Path;
  readonly lat: number;
  readonly lng: number;
  readonly position: number;
}

/** The path to the names of an event's changed fields. No expression can write it. */
export const changedNames = '@changed';

/** The text before a request path's segments. */
export const requestPrefix = '@request.';

/** The text before an owner path's segments. */
export const ownerPrefix = '@owner.';
