import type { CountSource, Hop } from '../resolve/resolved.ts';
import { selectFromAccount, selectThrough } from './hops.ts';
import { type SqlTarget, targetOf } from './sql-target.ts';
import { storedSql } from './value-sql.ts';

/** Compiles `count(…)` to a number that is never null. */
export function countSql(source: CountSource, into: SqlTarget): string {
  const { of, account, countsEntries } = source;
  const entries = (end: SqlTarget) => `jsonb_array_length(coalesce(${storedSql(of, end)}, '[]'))`;
  const select = (what: (end: SqlTarget) => string) =>
    account ? selectFromAccount(account, of, into, what) : selectThrough(of, targetOf(of, into), what);
  if (!countsEntries)
    return select(({ row }) => (repeats(of.hops) ? `count(distinct ${row}.${of.column})` : 'count(*)'));
  if (of.hops.length === 0 && !account) return entries(targetOf(of, into));
  if (!repeats(of.hops)) return select((end) => `coalesce(sum(${entries(end)}), 0)`);
  const lists = select((end) => `distinct ${end.row}.id, ${entries(end)} as entries`);
  return `(select coalesce(sum(list.entries), 0) from ${lists} list)`;
}

/** Whether the path may lead to the same record twice: records that refer to one record are different records. */
function repeats(hops: readonly Hop[]): boolean {
  const several = hops.findIndex(({ link }) => link.via !== 'relation');
  return hops.slice(several + 1).some(({ link }) => link.via !== 'referrers');
}
