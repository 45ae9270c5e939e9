import { tableOf } from '@recordbus/schema';
import { compile } from './compile.ts';
import { existsThrough } from './hops.ts';
import { certain, not, type Predicate } from './predicate.ts';
import type { ResolvedExists } from './resolved.ts';
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
  const conditions = [
    ...(guard ? [compile(guard, { ...inner, outer: undefined })] : []),
    ...(condition ? [compile(condition, { ...inner, outer: into })] : []),
  ];
  return certain(`exists (select 1 from ${tableOf(target)} ${row} where ${conditions.join(' and ')})`);
}
