import { type Collection, tableOf } from '@recordbus/schema';
import { linkedId } from '../resolve/path.ts';
import type { Column, Hop } from '../resolve/resolved.ts';
import { compile } from './compile.ts';
import { certain, type Predicate } from './predicate.ts';
import { readRequestValue } from './request-values.ts';
import type { SqlTarget } from './sql-target.ts';

/**
 * How many tables PostgreSQL plans in one join. Planning time grows faster than this number: 199 comparisons over six
 * relations took 17 s, and with this bound a fraction of a second.
 */
const maxJoined = 12;

/** Where a path leads: the FROM items, the conditions on them, and the last row. */
interface Route {
  readonly tables: string[];
  readonly conditions: string[];
  readonly end: SqlTarget;
}

/** A path's relations, and whether only the ids in a last list relation are read. */
type Way = Pick<Column, 'hops' | 'column'>;

/**
 * Holds where the relations from a row lead to a record that satisfies a condition. PostgreSQL turns an EXISTS with one
 * equation to the outer row into a semi-join, a negated one into an anti-join, and one within an OR into a hashed
 * sub-plan. A scalar sub-select would run once per row (on 100,000 rows: 330 ms instead of 11).
 */
export function existsThrough(way: Way, from: SqlTarget, condition: (end: SqlTarget) => string | undefined): Predicate {
  const isBounded = from.parameters.aliases > maxJoined;
  return existsOn(follow(way, { tables: [], conditions: [], end: from }), isBounded, condition);
}

/** The same from the caller's account row. */
export function existsFromAccount(
  account: Collection,
  way: Way,
  into: SqlTarget,
  condition: (end: SqlTarget) => string | undefined,
): Predicate {
  return existsOn(follow(way, accountRow(account, into)), false, condition);
}

function existsOn(route: Route, isBounded: boolean, condition: (end: SqlTarget) => string | undefined): Predicate {
  const last = condition(route.end);
  const sql = `exists (select 1 ${fromWhere(route, last === undefined ? [] : [last])})`;
  // With `is true`, PostgreSQL plans an EXISTS separately.
  return certain(isBounded ? `(${sql} is true)` : sql);
}

/** A sub-select, in parentheses, for a value at a path's end. */
export const selectThrough = (way: Way, from: SqlTarget, select: (end: SqlTarget) => string): string =>
  selectOn(follow(way, { tables: [], conditions: [], end: from }), select);

/** The same from the caller's account row: PostgreSQL runs it once for each statement. */
export const selectFromAccount = (
  account: Collection,
  way: Way,
  into: SqlTarget,
  select: (end: SqlTarget) => string,
): string => selectOn(follow(way, accountRow(account, into)), select);

/** The FROM items that lead from an outer statement's row over relations, and the conditions on them. */
export function joinThrough(
  way: Way,
  from: SqlTarget,
): { readonly tables: string; readonly conditions: readonly string[]; readonly end: SqlTarget } {
  const { tables, conditions, end } = follow(way, { tables: [], conditions: [], end: from });
  return { tables: tables.join(' '), conditions, end };
}

const selectOn = (route: Route, select: (end: SqlTarget) => string): string =>
  `(select ${select(route.end)} ${fromWhere(route, [])})`;

const fromWhere = ({ tables, conditions }: Route, more: readonly string[]): string => {
  const all = [...conditions, ...more];
  return `from ${tables.join(' ')}${all.length > 0 ? ` where ${all.join(' and ')}` : ''}`;
};

function accountRow(account: Collection, into: SqlTarget): Route {
  const { parameters } = into;
  parameters.noteAccount();
  const row = parameters.alias();
  const id = { source: 'request', part: 'auth', path: ['id'], kind: 'text', isLowered: false } as const;
  const value = parameters.ofRequest('auth.id as text', 'text', (request) => readRequestValue(id, request));
  return {
    tables: [`${tableOf(account)} ${row}`],
    conditions: [`${row}.id = ${value}`],
    end: { ...into, row, isTable: true, outer: undefined },
  };
}

function follow({ hops, column }: Way, start: Route): Route {
  const readsIds = column === linkedId;
  let { end } = start;
  for (const [index, hop] of hops.entries()) {
    const from = end;
    end = linkTo(hop, { ...start, end: from }, readsIds && index === hops.length - 1);
    if (hop.visibleIf) start.conditions.push(compile(hop.visibleIf, { ...ownerOf(hop, from, end), outer: undefined }));
    if (hop.guard) start.conditions.push(compile(hop.guard, { ...end, outer: undefined }));
  }
  return { ...start, end };
}

/** The row of the record that has the relation. */
const ownerOf = ({ link }: Hop, from: SqlTarget, end: SqlTarget): SqlTarget =>
  link.via === 'relation' || link.via === 'list' ? from : end;

/** Adds a hop's tables. Returns its last row. */
function linkTo({ link, target }: Hop, route: Route, readsIds: boolean): SqlTarget {
  const { end: from } = route;
  const alias = from.parameters.alias();
  const end = { ...from, row: alias, isTable: target.type !== 'view' };
  const { column } = link;
  switch (link.via) {
    case 'relation':
      join(route, `${tableOf(target)} ${alias}`, `${alias}.id = ${from.row}.${column}`);
      return end;
    case 'referrers':
      join(route, `${tableOf(target)} ${alias}`, `${alias}.${column} = ${from.row}.id`);
      return end;
    case 'list':
      if (link.table && from.isTable) join(route, `${link.table} ${alias}`, `${alias}.owner = ${from.row}.id`);
      else join(route, `jsonb_array_elements_text(${from.row}.${column}) ${alias}(${linkedId})`, undefined);
      return readsIds ? end : joinTarget(route, target, `${alias}.${linkedId}`, end);
    case 'listReferrers':
      if (!link.table) {
        join(route, `${tableOf(target)} ${alias}`, `${alias}.${column} ? ${from.row}.id`);
        return end;
      }
      join(route, `${link.table} ${alias}`, `${alias}.${linkedId} = ${from.row}.id`);
      return joinTarget(route, target, `${alias}.owner`, end);
  }
}

function joinTarget(route: Route, target: Collection, id: string, end: SqlTarget): SqlTarget {
  const row = end.parameters.alias();
  join(route, `${tableOf(target)} ${row}`, `${row}.id = ${id}`);
  return { ...end, row };
}

/** The first item's condition goes to WHERE, where PostgreSQL turns an EXISTS into a semi-join. */
function join({ tables, conditions }: Route, item: string, on: string | undefined): void {
  if (tables.length > 0) tables.push(`join ${item} on ${on ?? 'true'}`);
  else {
    tables.push(item);
    if (on !== undefined) conditions.push(on);
  }
}
