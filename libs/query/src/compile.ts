import { compareSql } from './compare-sql.ts';
import { nullTest } from './null-sql.ts';
import type { Resolved } from './resolved.ts';
import type { SqlTarget } from './sql-target.ts';

/**
 * Compiles an expression to an SQL condition. It is true where the expression holds, else false or null. That fits WHERE,
 * ON, FILTER and CASE WHEN; elsewhere it needs `is true`. All values are parameters.
 */
export function compile(expression: Resolved, into: SqlTarget): string {
  switch (expression.kind) {
    case 'all':
    case 'any':
      return `(${expression.items.map((item) => compile(item, into)).join(expression.kind === 'all' ? ' and ' : ' or ')})`;
    case 'decided':
      return String(expression.holds);
    case 'nullTest':
      return nullTest(expression.operand, expression.isNegated, into).sql;
    case 'comparison':
      return compareSql(expression, into).sql;
  }
}
