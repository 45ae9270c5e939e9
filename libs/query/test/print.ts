import { type Expression, type Operand, ownerPrefix, requestPrefix, type Test } from '../src/language/ast.ts';

/** Writes an expression as text; parsing that gives the same expression again, apart from positions. */
export function print(expression: Expression): string {
  switch (expression.kind) {
    case 'all':
    case 'any': {
      const isAll = expression.kind === 'all';
      return expression.items.map((item) => printItem(item, isAll)).join(isAll ? ' && ' : ' || ');
    }
    case 'not':
      return `not (${print(expression.item)})`;
    case 'quantified':
      return `${expression.quantifier}(${printTest(expression.test)})`;
    case 'exists':
      return `exists(${expression.collection}, ${print(expression.condition)})`;
    default:
      return printTest(expression);
  }
}

/** Only an `&&` within an `||` goes without parentheses. */
const printItem = (item: Expression, isAll: boolean): string =>
  item.kind === 'any' || (item.kind === 'all' && isAll) ? `(${print(item)})` : print(item);

function printTest(test: Test): string {
  if (test.kind === 'comparison') return `${printOperand(test.left)} ${test.operator} ${printOperand(test.right)}`;
  const among = 'kind' in test.among ? printOperand(test.among) : `(${test.among.map(printOperand).join(', ')})`;
  return `${printOperand(test.left)} in ${among}`;
}

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
      return `@${operand.name}${operand.shiftSec ? `${operand.shiftSec > 0 ? '+' : ''}${operand.shiftSec}s` : ''}`;
    case 'count':
      return `count(${printOperand(operand.of)})`;
    case 'distance':
      return `distance(${printOperand(operand.of)}, ${operand.lat}, ${operand.lng})`;
    case 'path':
      return printPath(operand);
    case 'request':
      return requestPrefix + printPath(operand);
    case 'owner':
      return ownerPrefix + printPath(operand);
  }
}

const printPath = ({ segments, modifier }: { segments: readonly string[]; modifier?: string }): string =>
  segments.join('.') + (modifier === undefined ? '' : `:${modifier}`);
