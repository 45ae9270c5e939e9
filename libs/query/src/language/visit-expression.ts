import type { Comparison, Exists, Expression, Membership, Quantified } from './ast.ts';

/** A function for each kind of expression. A new kind makes every visitor fail to compile until it has one. */
export interface ExpressionVisitor<Result> {
  all(items: readonly Expression[]): Result;
  any(items: readonly Expression[]): Result;
  not(item: Expression): Result;
  comparison(test: Comparison): Result;
  in(test: Membership): Result;
  quantified(test: Quantified): Result;
  exists(test: Exists): Result;
}

/** Calls the visitor's function for the kind of an expression. */
export function visitExpression<Result>(expression: Expression, visitor: ExpressionVisitor<Result>): Result {
  switch (expression.kind) {
    case 'all':
      return visitor.all(expression.items);
    case 'any':
      return visitor.any(expression.items);
    case 'not':
      return visitor.not(expression.item);
    case 'comparison':
      return visitor.comparison(expression);
    case 'in':
      return visitor.in(expression);
    case 'quantified':
      return visitor.quantified(expression);
    case 'exists':
      return visitor.exists(expression);
  }
}
