import { compareSql } from './compare-sql.ts';
import { nullTest } from './null-sql.ts';
import type { Place } from './place.ts';
import type { Resolved } from './resolved.ts';

/**
 * The SQL condition of an expression. It is true where the expression holds, else false or null: right for WHERE,
 * ON, FILTER and CASE WHEN; anywhere else it needs `is true`. All values are parameters.
 */
export function compile(expression: Resolved, place: Place): string {
  switch (expression.kind) {
    case 'all':
    case 'any':
      return `(${expression.items.map((item) => compile(item, place)).join(expression.kind === 'all' ? ' and ' : ' or ')})`;
    case 'decided':
      return String(expression.holds);
    case 'nullTest':
      return nullTest(expression.operand, expression.isNegated, place).sql;
    case 'comparison':
      return compareSql(expression, place).sql;
  }
}
