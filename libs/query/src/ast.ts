/** A parsed expression, before names are looked up. Positions are offsets in the text, from 0. */
export type Expression = Junction | Comparison;

/** At least two expressions, joined by `&&` (all) or `||` (any). */
interface Junction {
  readonly kind: 'all' | 'any';
  readonly items: readonly Expression[];
}

export const operators = ['=', '!=', '>', '>=', '<', '<=', '~', '!~'] as const;
export type Operator = (typeof operators)[number];

export interface Comparison {
  readonly kind: 'comparison';
  readonly operator: Operator;
  readonly left: Operand;
  readonly right: Operand;
}

export type Operand = Literal | Moment | Path | RequestPath;

export type Literal =
  | { readonly kind: 'text'; readonly value: string; readonly position: number }
  /** The number as written, since it may be read as text. */
  | { readonly kind: 'number'; readonly digits: string; readonly position: number }
  | { readonly kind: 'bool'; readonly value: boolean; readonly position: number }
  | { readonly kind: 'null'; readonly position: number };

export const moments = ['now', 'todayStart', 'todayEnd'] as const;

/** A time of the clock: `@now`, and the first and last second of its day in UTC (filters §6.3). */
export interface Moment {
  readonly kind: 'moment';
  readonly name: (typeof moments)[number];
  readonly position: number;
}

export const modifiers = ['lower', 'isset', 'changed'] as const;
export type Modifier = (typeof modifiers)[number];

/** A field, or a path to one over relations. */
interface Path {
  readonly kind: 'path';
  readonly segments: readonly string[];
  readonly modifier?: Modifier;
  readonly position: number;
}

/** A value of the request: `@request.` and the segments. */
export interface RequestPath {
  readonly kind: 'request';
  readonly segments: readonly string[];
  readonly modifier?: Modifier;
  readonly position: number;
}

/** The text before the segments of a request path. */
export const requestPrefix = '@request.';
