import { type Expression, type Operand, requestPrefix } from '../src/ast.ts';

/** Writes an expression as text; parsing that gives the same expression again, apart from positions. */
export function print(expression: Expression): string {
  if (expression.kind === 'comparison')
    return `${printOperand(expression.left)} ${expression.operator} ${printOperand(expression.right)}`;
  const isAll = expression.kind === 'all';
  return expression.items.map((item) => printItem(item, isAll)).join(isAll ? ' && ' : ' || ');
}

/** Only an `&&` within an `||` goes without parentheses. */
const printItem = (item: Expression, isAll: boolean): string =>
  item.kind === 'comparison' || (item.kind === 'all' && !isAll) ? print(item) : `(${print(item)})`;

function printOperand(operand: Operand): string {
  switch (operand.kind) {
    case 'text':
      return `"${operand.value.replace(/["\\]/g, '\\$&')}"`;
    case 'number':
      return operand.digits;
    case 'bool':
      return String(operand.value);
    case 'null':
      return 'null';
    case 'moment':
      return `@${operand.name}`;
    case 'path':
      return printPath(operand);
    case 'request':
      return requestPrefix + printPath(operand);
  }
}

const printPath = ({ segments, modifier }: { segments: readonly string[]; modifier?: string }): string =>
  segments.join('.') + (modifier === undefined ? '' : `:${modifier}`);
