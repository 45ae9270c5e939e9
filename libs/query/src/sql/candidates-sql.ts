import { tableOf } from '@recordbus/schema';
import { parse } from '../language/parser.ts';
import { resolve } from '../resolve/resolve.ts';
import type { CallerValue, Column, Resolved, ResolvedComparison, ResolvedExists, Source } from '../resolve/resolved.ts';
import type { Scope } from '../resolve/scope.ts';
import { readsRequest, splitByCaller } from '../resolve/split-by-caller.ts';
import { visitResolved } from '../resolve/visit-resolved.ts';
import { compile } from './compile.ts';
import { joinOuterPath } from './exists-sql.ts';
import { selectThrough } from './hops.ts';
import { type SqlTarget, targetOf, withCollation } from './sql-target.ts';
import { columnSql, storedSql } from './value-sql.ts';

/** SQL for the accounts that a record concerns. */
interface CandidatesSql {
  /** A select for ids. */
  readonly select: string;
  /** A condition under which the record may concern everyone. */
  readonly everyone: string | undefined;
}

/**
 * Compiles a rule to a select with the ids of accounts for which it may hold on the row at `into`, including all for
 * which it holds. Undefined if the record does not lead to them. Throws QueryError like `compileExpression`.
 */
export function compileCandidates(text: string, scope: Scope, into: SqlTarget): CandidatesSql | undefined {
  const resolved = resolve(parse(text), scope);
  const place = withCollation(scope, into);
  const parts = splitByCaller(resolved);
  const found = candidatesOf(parts?.others ?? resolved, place);
  if (!found || (parts && found.selects.length === 0)) return undefined;
  return { select: unionOf(found.selects), everyone: parts && compile(withoutCaller(parts.everyone), place) };
}

/** Removes the parts that read the caller. The rest holds whenever the whole may hold. */
function withoutCaller(expression: Resolved): Resolved {
  if (expression.kind !== 'all') return expression;
  return { kind: 'all', items: expression.items.filter((item) => !readsRequest(item)).map(withoutCaller) };
}

/** Id selects, and how much they cost compared with others. */
interface Candidates {
  readonly selects: readonly string[];
  readonly cost: number;
}

const nobody: Candidates = { selects: [], cost: 0 };

const unionOf = (selects: readonly string[]): string =>
  selects.length === 0 ? 'select null::text where false' : selects.join(' union all ');

const candidatesOf = (expression: Resolved, into: SqlTarget): Candidates | undefined =>
  visitResolved<Candidates | undefined>(expression, {
    // Each item limits the accounts, so the cheapest one is enough.
    all: (items) =>
      items
        .flatMap((item) => candidatesOf(item, into) ?? [])
        .reduce<Candidates | undefined>((best, one) => (best && best.cost <= one.cost ? best : one), undefined),
    any(items) {
      const found = items.map((item) => candidatesOf(item, into));
      if (!found.every((one) => one !== undefined)) return undefined;
      const cost = found.reduce((sum, one) => sum + one.cost, 0);
      return { selects: found.flatMap(({ selects }) => selects), cost };
    },
    decided: ({ holds }) => (holds ? undefined : nobody),
    nullTest: () => undefined,
    comparison: (test) => ofComparison(test, into),
    exists: (test) => ofExists(test, into),
  });

/** `x = @request.auth.id`, and `x = @request.auth.<relation>`, whose index leads back to the accounts. */
function ofComparison(test: ResolvedComparison, into: SqlTarget): Candidates | undefined {
  const { operator, isNegated, negatesValue, left, right } = test;
  if (isNegated || negatesValue || (operator !== '=' && operator !== 'in')) return undefined;
  for (const [column, caller] of [
    [left, right],
    [right, left],
  ] as const) {
    if (column.source !== 'column') continue;
    const way = 1 + column.hops.length;
    if (isCallerId(caller)) return { selects: [selectValues(column, into)], cost: way };
    if (isIndexedRelation(caller))
      return { selects: [selectAccounts(caller, selectValues(column, into), into)], cost: way + costOfAccounts };
  }
  return undefined;
}

/** Higher than any path's cost, since an account's relation may lead to many accounts. */
const costOfAccounts = 100;

const isCallerId = (source: Source): boolean =>
  source.source === 'request' && source.part === 'auth' && source.path[0] === 'id' && !source.isLowered;

/** Whether the value is a relation in the account itself. */
const isIndexedRelation = (source: Source): source is CallerValue =>
  source.source === 'caller' &&
  source.column.hops.length === 0 &&
  !source.column.transform &&
  source.account.type === 'auth' &&
  (source.column.relation?.link.via === 'relation' ||
    (source.column.relation?.link.via === 'list' && source.column.relation.link.table !== undefined));

/** A select for the texts at a path's end, or for the entries in its lists. */
function selectValues(column: Column, into: SqlTarget): string {
  const from = targetOf(column, into);
  const end = (at: SqlTarget) =>
    column.kind === 'list'
      ? `jsonb_array_elements_text(${storedSql(column, at)})`
      : columnSql({ ...column, hops: [] }, 'text', at);
  return column.hops.length === 0 ? `select ${end(from)}` : selectThrough(column, from, end);
}

/** A select for the accounts that have one of the values in a relation. */
function selectAccounts({ account, column }: CallerValue, values: string, { parameters }: SqlTarget): string {
  const [value, row] = [parameters.alias(), parameters.alias()];
  const from = `select ${row}.${column.kind === 'list' ? 'owner' : 'id'} from (${values}) ${value}(id)`;
  const link = column.relation?.link;
  return column.kind === 'list' && link?.via === 'list'
    ? `${from} join ${link.table} ${row} on ${row}.target = ${value}.id`
    : `${from} join ${tableOf(account)} ${row} on ${row}.${column.column} = ${value}.id`;
}

/**
 * `exists(members, org = record.org && user = @request.auth.id)`: the parts that do not read the caller narrow the
 * records.
 */
function ofExists({ from, condition, isNegated }: ResolvedExists, into: SqlTarget): Candidates | undefined {
  if (isNegated || !condition || !('target' in from)) return undefined;
  const row = into.parameters.alias();
  const inner = { ...into, row, isTable: from.target.type !== 'view', outer: into };
  const found = candidatesOf(condition, inner);
  if (!found) return undefined;
  const account = into.parameters.alias();
  const tables = [`${tableOf(from.target)} ${row}`];
  const conditions: string[] = [];
  for (const item of condition.kind === 'all' ? condition.items : [condition]) {
    if (readsRequest(item)) continue;
    const joined = joinOuterPath(item, into);
    if (joined) tables.push(joined.tables);
    conditions.push(...(joined?.conditions ?? []));
    conditions.push(compile(joined?.test ?? item, { ...inner, outer: joined?.outer ?? into }));
  }
  // Without a link to the row there would be too many records.
  if (!conditions.some((sql) => sql.includes(`${into.row}.`))) return undefined;
  const select = `select ${account}.id from ${tables.join(', ')} cross join lateral (${unionOf(found.selects)}) ${account}(id) where ${conditions.join(' and ')}`;
  return { selects: [select], cost: found.cost + costOfExists };
}

const costOfExists = 10;
