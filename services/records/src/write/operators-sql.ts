import { type Cte, lockedRow, withCtes } from '@recordbus/journal';
import { createNamedParameters, type NamedParameters } from '@recordbus/query';
import {
  type Collection,
  type Field,
  fieldTypeOf,
  type OperatorSql,
  quoteIdentifier,
  quoteLiteral,
  resultRefusals,
} from '@recordbus/schema';

/** One run's operator values. */
export interface OperatorValues {
  /** The operands by field; a field without operators has none. */
  readonly operands: ReadonlyMap<string, unknown>;
}

/**
 * The parts of a statement that applies operators to the one row in the CTE `old`. One text serves every set of
 * operators.
 */
export interface OperatorsSql {
  /**
   * The CTEs `applied`, with the results by field (null without operators), and `refusal`, with the refused results.
   */
  readonly ctes: readonly Cte[];
  /** A field's value as SQL: what its operators result in, or else the written value. */
  valueOf(field: Field, written: string): string;
}

interface Operated {
  readonly field: Field;
  readonly column: string;
  readonly inSql: OperatorSql;
  /** SQL; null if the field has no operators in this run. */
  readonly operand: string;
}

/** Composes the parts for a collection with fields that take operators. */
export function composeOperators(
  { fields }: Collection,
  parameters: Pick<NamedParameters<OperatorValues>, 'member'>,
): OperatorsSql {
  const operated = new Map(
    fields.flatMap((field): [Field, Operated][] => {
      const inSql = fieldTypeOf(field).operators?.(field)?.inSql;
      if (!inSql) return [];
      const operand = parameters.member('operands', field.name, inSql.operandType);
      return [[field, { field, column: quoteIdentifier(field.name), inSql, operand }]];
    }),
  );
  const all = [...operated.values()];
  return {
    ctes: [
      { name: 'applied', sql: `select ${all.map(appliedColumn).join(',\n    ')}\n  from old`, isMaterialized: true },
      {
        name: 'refusal',
        sql: `select array_remove(array[${all.map(refusedResult).join(',\n    ')}]::text[], null) as results from applied`,
        isMaterialized: true,
      },
    ],
    valueOf(field, written) {
      const found = operated.get(field);
      return found ? `case when ${found.operand} is null then ${written} else applied.${found.column} end` : written;
    },
  };
}

const appliedColumn = ({ column, inSql, operand }: Operated): string =>
  `case when ${operand} is not null then ${inSql.result(`old.${column}`, operand)} end as ${column}`;

/** The field and the message for a refused result, as JSON text in SQL; null for any other result. */
function refusedResult({ field, column, inSql, operand }: Operated): string {
  const refusals = resultRefusals(field, inSql, `applied.${column}`);
  if (refusals.length === 0) return 'null';
  const cases = refusals.map(
    ({ where, message }) => `when ${where} then ${quoteLiteral(JSON.stringify([field.name, message]))}`,
  );
  return `case when ${operand} is not null then case ${cases.join(' ')} end end`;
}

interface ResolveValues extends OperatorValues {
  readonly id: string;
}

/** The statement that returns what operators result in on a record, which it locks: `values` as JSON text. */
export function composeResolve(collection: Collection) {
  const parameters = createNamedParameters<ResolveValues>();
  const old = lockedRow(collection, parameters.named('id', 'text'));
  const { ctes } = composeOperators(collection, parameters);
  const text = `${withCtes([old, ...ctes])}
select row_to_json(a.*)::text as values, r.results as refused from applied a cross join refusal r`;
  return { text, valuesFrom: parameters.valuesFrom };
}
