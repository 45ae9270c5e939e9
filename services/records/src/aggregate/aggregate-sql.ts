import { malformedParameter } from '@recordbus/errors';
import {
  type Columns,
  type ColumnValue,
  compileOverRows,
  createColumns,
  createNamedParameters,
  type DerivedRows,
  type NamedParameters,
  type Parameters,
} from '@recordbus/query';
import { type Collection, quoteLiteral, tableOf, type ValueKind } from '@recordbus/schema';
import { clientScope } from '../rules/compile-rule.ts';
import type { RuleContext } from '../rules/rule-context.ts';
import { joinedWithinLimit } from '../shape/answer-limit.ts';
import { readCondition } from '../shape/conditions.ts';
import { readExpression } from '../shape/read-expression.ts';
import { compileCalculation } from './calculation-sql.ts';
import { findValue, nameValues } from './named-values.ts';
import { periodStart } from './period-sql.ts';
import type { Aggregate, AggregateFunction, AggregateShape, Key } from './read-aggregate.ts';

/** The parameters that the statement's text depends on. */
export interface AggregateText {
  readonly shape: AggregateShape;
  readonly filter: string | undefined;
  readonly having: string | undefined;
  readonly sort: string | undefined;
  /** The IANA name of the periods' time zone; UTC when undefined. */
  readonly timeZone: string | undefined;
}

/** The values that each run of the statement gives. */
export interface AggregateValues {
  readonly page: number;
  readonly perPage: number;
  readonly offset: number;
  readonly maxBytes: number;
}

/** An answer's member, and its column in the group rows. */
interface Output extends ColumnValue {
  readonly name: string;
  /** The column's name; members' names may be longer than SQL allows. */
  readonly column: string;
}

/** A computed value. */
type Value = Output & Pick<Aggregate, 'of'>;

type ReadContext = Pick<RuleContext, 'principal' | 'schema'>;

/** Composes an aggregate's statement. Its row has the answer's `body`. */
export function composeAggregate(
  collection: Collection,
  { shape, filter, having, sort, timeZone }: AggregateText,
  ruleContext: ReadContext,
): { readonly text: string } & Pick<NamedParameters<AggregateValues>, 'valuesFrom'> {
  const { schema } = ruleContext;
  const parameters = createNamedParameters<AggregateValues>();
  const into = { row: 't', parameters };
  const columns = createColumns(clientScope(collection, ruleContext), into);
  // PostgreSQL refuses a statement with a parameter that its text does not mention.
  const hasPeriod = shape.keys.some(({ period }) => period !== undefined);
  const zone = timeZone === undefined || !hasPeriod ? undefined : parameters.fixed(timeZone, 'text');
  const keys = shape.keys.map((key, index) => ({ name: key.name, column: `k${index}`, ...keyOf(key, columns, zone) }));
  const values = shape.aggregates.map((aggregate, index) => ({
    name: aggregate.name,
    column: `v${index}`,
    of: aggregate.of,
    ...valueOfGroup(aggregate, columns, parameters),
  }));
  const outputs = [...keys, ...values];
  const condition = readCondition(collection, filter, into, ruleContext);
  const where = condition === undefined ? '' : ` where ${condition}`;
  // Without keys there is one group, even without records.
  const groupBy = keys.length > 0 ? ` group by ${keys.map((_, index) => index + 1).join(', ')}` : '';
  const groups = `select ${outputs.map(({ sql, column }) => `${sql} as ${column}`).join(', ')}
  from ${tableOf(collection)} t${columns.joins && ` ${columns.joins}`}${where}${groupBy}`;
  const compileHaving = (given: string) => {
    const named = nameValues(given, values);
    return compileOverRows(named.text, groupRows(outputs, named.columns), schema, { row: 'g', parameters });
  };
  const selected = having === undefined ? '' : ` where ${readExpression('having', () => compileHaving(having))}`;
  const [page, perPage] = [parameters.named('page', 'bigint'), parameters.named('perPage', 'bigint')];
  const json = `select ${rowJson(outputs)} as value from (
    select * from selected g order by ${orderBy(sort, outputs, values, keys)} limit ${perPage} offset ${parameters.named('offset', 'bigint')}
  ) g`;
  const text = `with groups as materialized (
  ${groups}
), selected as materialized (select g.* from groups g${selected})
select '{"data":[' || ${joinedWithinLimit(json, { maxBytes: parameters.named('maxBytes', 'bigint') })} || '],"page":' || ${page} || ',"perPage":' || ${perPage}
  || ',"totalItems":' || c.total || ',"totalPages":' || (c.total + ${perPage} - 1) / ${perPage} || '}' as body
from (select count(*) as total from selected) c`;
  return { text, valuesFrom: parameters.valuesFrom };
}

/** The rows over which `having` is an expression: members of the answer, and values by their functions. */
const groupRows = (outputs: readonly Output[], values: DerivedRows['columns']): DerivedRows => ({
  name: 'the answer',
  columns: new Map([...outputs.map((output): [string, Output] => [output.name, output]), ...values]),
});

function find(columns: Columns, parameter: string, path: string): ColumnValue {
  const found = readExpression(parameter, () => columns.find(path));
  if (found.kind === 'vector') throw malformedParameter(parameter, `${JSON.stringify(path)} is a vector`);
  return found;
}

function keyOf({ path, period }: Key, columns: Columns, zone: string | undefined): ColumnValue {
  const column = find(columns, 'group', path);
  if (!period) return column;
  if (column.kind !== 'date') throw malformedParameter('group', `${JSON.stringify(path)} is not a date`);
  return { sql: periodStart(period, column.sql, zone), kind: 'date' };
}

/** The kinds whose values each function takes. */
const kindsOf: Readonly<Record<AggregateFunction, readonly ValueKind[]>> = {
  sum: ['number'],
  avg: ['number'],
  min: ['number', 'date', 'text'],
  max: ['number', 'date', 'text'],
};

function valueOfGroup({ of }: Aggregate, columns: Columns, parameters: Pick<Parameters, 'fixed'>): ColumnValue {
  if (!of) return { sql: 'count(*)', kind: 'number' };
  const value = readExpression(of.function, () => compileCalculation(of.value, columns, parameters));
  if (!kindsOf[of.function].includes(value.kind))
    throw malformedParameter(of.function, `takes no ${value.kind} such as ${JSON.stringify(of.text)}`);
  return { sql: `${of.function}(${value.sql})`, kind: value.kind };
}

/** A group as JSON, in SQL. */
const rowJson = (outputs: readonly Output[]): string => {
  const members = outputs.map(
    ({ name, column }) => `${quoteLiteral(`${JSON.stringify(name)}:`)} || coalesce(to_json(g.${column})::text, 'null')`,
  );
  return `'{' || ${members.join(` || ',' || `)} || '}'`;
};

/**
 * The ORDER BY list: the members in `sort`, then the keys, so pages never overlap. Throws 400 for an unknown member.
 */
function orderBy(
  sort: string | undefined,
  outputs: readonly Output[],
  values: readonly Value[],
  keys: readonly Output[],
): string {
  const sorted = (sort?.split(',') ?? []).map((term) => {
    const text = term.trim();
    const name = text.replace(/^-/, '');
    const output = outputs.find((one) => one.name === name) ?? findValue(name, values);
    if (!output) throw malformedParameter('sort', `the answer has no member ${JSON.stringify(name)}`);
    return `g.${output.column}${text.startsWith('-') ? ' desc' : ''}`;
  });
  const all = [...sorted, ...keys.map(({ column }) => `g.${column}`)];
  return all.length > 0 ? all.join(', ') : '1';
}
