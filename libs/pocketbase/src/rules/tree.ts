/** A parsed expression in PocketBase's language. Positions are offsets in its text, from 0. */
export type Tree = Junction | Comparison;

/** At least two expressions, joined by `&&` or `||`. */
export interface Junction {
  readonly kind: 'and' | 'or';
  readonly items: readonly Tree[];
}

export const operators = ['=', '!=', '~', '!~', '<', '<=', '>', '>='] as const;
export type Operator = (typeof operators)[number];

export interface Comparison {
  readonly kind: 'comparison';
  readonly operator: Operator;
  /** Whether the operator has a `?`: one value is enough. */
  readonly isAny: boolean;
  readonly left: Operand;
  readonly right: Operand;
}

export type Operand =
  | { readonly kind: 'text'; readonly value: string; readonly position: number }
  | { readonly kind: 'number'; readonly value: number; readonly position: number }
  | { readonly kind: 'name'; readonly name: string; readonly position: number }
  | {
      readonly kind: 'call';
      readonly name: string;
      readonly arguments: readonly Operand[];
      readonly position: number;
    };

/** A text that is not an expression. The position counts characters from 1. */
export class PocketBaseSyntaxError extends Error {
  readonly position: number;

  constructor(message: string, offset: number) {
    super(`${message} (character ${offset + 1})`);
    this.position = offset + 1;
  }
}
