import { type Condition, or, test } from './condition.ts';
import type { Literal } from './literal.ts';
import type { Distance } from './side.ts';
import { order } from './single.ts';
import type { Operator } from './tree.ts';
import { Untranslatable } from './untranslatable.ts';

/** Compares two literals. */
export function compareLiterals(left: Literal, operator: Operator, right: Literal): boolean {
  if (left.type === 'number' && right.type === 'number' && operator !== '~' && operator !== '!~')
    return order(operator, left.value, right.value);
  const isText = (literal: Literal) => literal.type === 'text' || literal.type === 'empty';
  const textOf = (literal: Literal) => (literal.type === 'text' ? literal.value : '');
  if (isText(left) && isText(right) && (operator === '=' || operator === '!='))
    return (textOf(left) === textOf(right)) === (operator === '=');
  throw new Untranslatable('two literals compared with each other');
}

/** Compares how far a point is from another one with a number. */
export function compareDistance({ text, field, km }: Distance, operator: Operator, literal: Literal): Condition {
  if (literal.type !== 'number' || !['<', '<=', '>', '>='].includes(operator))
    throw new Untranslatable('a distance compared with another kind');
  const plain = test(`${text} ${operator} ${literal.value}`);
  return order(operator, km, literal.value) ? or(plain, test(`${field} = null`)) : plain;
}
