import type { Expression, Operand } from '../src/language/ast.ts';

/** All operands in an expression's tests, in order. */
export function operandsIn(expression: Expression): Operand[] {
  switch (expression.kind) {
    case 'all':
    case 'any':
      return expression.items.flatMap(operandsIn);
    case 'not':
      return operandsIn(expression.item);
    case 'quantified':
      return operandsIn(expression.test);
    case 'exists':
      return operandsIn(expression.condition);
    case 'comparison':
      return [expression.left, expression.right];
    case 'in':
      return [expression.left, ...('kind' in expression.among ? [expression.among] : expression.among)];
  }
}

/** The values that every caller has. */
const fixedOfCaller = ['id', 'email', 'type', 'collection', 'verified'];

/** Whether a request path names a value that every caller has, rather than a path from the account. */
export const isFixedOfCaller = ([part, name = '', ...rest]: readonly string[]): boolean =>
  part === 'auth' && rest.length === 0 && fixedOfCaller.includes(name);
