import { tableOf } from '@recordbus/schema';
import {
  type Column,
  passesSeveral,
  type Resolved,
  type ResolvedComparison,
  type ResolvedExists,
} from '../resolve/resolved.ts';
import { compile } from './compile.ts';
import { existsThrough, joinThrough } from './hops.ts';
import { certain, not, type Predicate } from './predicate.ts';
import { type SqlTarget, targetOf } from './sql-target.ts';

/** Compiles `exists(…)`, and whether a path leads to a record. */
export function existsSql({ from, condition, isNegated }: ResolvedExists, into: SqlTarget): Predicate {
  const found =
    'target' in from ? existsIn(from, condition, into) : existsThrough(from, targetOf(from, into), () => undefined);
  return isNegated ? not(found) : found;
}

/** PostgreSQL turns it into a semi-join on the equations with the outer row, whichever side has an index. */
function existsIn(
  { target, guard }: Extract<ResolvedExists['from'], { readonly target: unknown }>,
  condition: ResolvedExists['condition'],
  into: SqlTarget,
): Predicate {
  const row = into.parameters.alias();
  const inner = { ...into, row, isTable: target.type !== 'view' };
  const tables = [`${tableOf(target)} ${row}`];
  const conditions = guard ? [compile(guard, { ...inner, outer: undefined })] : [];
  const items = condition?.kind === 'all' ? condition.items : condition ? [condition] : [];
  for (const item of items) {
    const joined = joinOuterPath(item, into);
    if (joined) tables.push(joined.tables);
    conditions.push(...(joined?.conditions ?? []));
    conditions.push(compile(joined?.test ?? item, { ...inner, outer: joined?.outer ?? into }));
  }
  return certain(`exists (select 1 from ${tables.join(', ')} where ${conditions.join(' and ')})`);
}

/**
 * Joins the relations in a path from the outer row (`team = record.post.team`) next to the table. A sub-select within
 * the table's own would keep PostgreSQL from hashing the outer one, and would run once for each row.
 */
export function joinOuterPath(item: Resolved, into: SqlTarget) {
  if (item.kind !== 'comparison' || item.isNegated || item.negatesValue) return undefined;
  const side = (['left', 'right'] as const).find((each) => isOuterPath(item[each]));
  const other = item[side === 'left' ? 'right' : 'left'];
  if (!side || beginsAtOuter(other)) return undefined;
  const column = item[side] as Column;
  const { tables, conditions, end } = joinThrough(column, into);
  const test: ResolvedComparison = { ...item, [side]: { ...column, hops: [] } };
  return { tables, conditions, test, outer: end };
}

const isOuterPath = (source: ResolvedComparison['left']): boolean =>
  source.source === 'column' && source.up === 1 && source.hops.length > 0 && !passesSeveral(source);

const beginsAtOuter = (source: ResolvedComparison['left']): boolean =>
  (source.source === 'column' && source.up === 1) || (source.source === 'count' && source.of.up === 1);
