import { type Columns, type ColumnValue, errorAt, type Parameters } from '@recordbus/query';
import type { ValueKind } from '@recordbus/schema';
import type { Calculation, CalculationOperator } from './calculation.ts';

/** Compiles a calculation. Throws QueryError for unknown fields, and for kinds that do not fit. */
export function compileCalculation(
  calculation: Calculation,
  columns: Columns,
  parameters: Pick<Parameters, 'fixed'>,
): ColumnValue {
  switch (calculation.kind) {
    case 'path':
      return columns.find(calculation.path);
    case 'number':
      return { sql: parameters.fixed(Number(calculation.digits), 'double precision'), kind: 'number' };
    case 'minus': {
      const { sql, kind } = compileCalculation(calculation.of, columns, parameters);
      if (kind !== 'number') throw errorAt(`cannot compute - ${kind}`, calculation.position);
      return { sql: `(-${sql})`, kind };
    }
    case 'operation': {
      const { operator, position } = calculation;
      const left = compileCalculation(calculation.left, columns, parameters);
      const right = compileCalculation(calculation.right, columns, parameters);
      const kind = kindOf(operator, left.kind, right.kind);
      if (!kind) throw errorAt(`cannot compute ${left.kind} ${operator} ${right.kind}`, position);
      return { sql: operationSql(operator, left, right, kind), kind };
    }
  }
}

/** What two kinds give. Dates are seconds: two dates give the seconds between them. */
function kindOf(operator: CalculationOperator, left: ValueKind, right: ValueKind): 'number' | 'date' | undefined {
  const kinds = `${left} ${operator} ${right}`;
  if (left === 'number' && right === 'number') return 'number';
  if (kinds === 'date - date') return 'number';
  return ['date + number', 'number + date', 'date - number'].includes(kinds) ? 'date' : undefined;
}

/** A date's fraction is cut towards the past. What is divided by zero has no value. */
function operationSql(operator: CalculationOperator, left: ColumnValue, right: ColumnValue, kind: 'number' | 'date') {
  const [a, b] = [left, right].map(({ sql }) => `(${sql})::double precision`);
  const sql = `(${a} ${operator} ${operator === '/' ? `nullif(${b}, 0)` : b})`;
  return kind === 'date' ? `floor(${sql})::bigint` : sql;
}
