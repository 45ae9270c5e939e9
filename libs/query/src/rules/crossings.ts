import type { Collection } from '@recordbus/schema';
import { parse } from '../language/parser.ts';
import { membersOf } from '../resolve/member.ts';
import { resolve } from '../resolve/resolve.ts';
import type { Column, Hop, Resolved, ResolvedComparison, Source, Walk } from '../resolve/resolved.ts';
import type { Scope } from '../resolve/scope.ts';
import { visitResolved } from '../resolve/visit-resolved.ts';

/** A collection whose records decide about others, with the field names that are read. */
export interface Crossing {
  readonly collection: Collection;
  readonly fields: ReadonlySet<string>;
  /** Its fields that are compared with the caller's `id` or `email`. Their values name callers. */
  readonly naming: ReadonlySet<string>;
  /** Whether the record is the caller's account. */
  readonly isCaller: boolean;
}

/**
 * Finds the collections that an expression passes through, including guards' collections and the caller's account. The
 * scope's collection is included if the expression reads other records in it. Throws QueryError like
 * `compileExpression`.
 */
export function findCrossings(text: string, scope: Scope): Crossing[] {
  const found: Found[] = [];
  visit(resolve(parse(text), scope), [{ collection: scope.collection, is: 'own' }], createNote(found));
  return found;
}

interface Found extends Crossing {
  readonly fields: Set<string>;
  readonly naming: Set<string>;
}

/** A row that an expression reads: the record that it is about, the caller's account, or another one. */
interface Row {
  readonly collection: Collection;
  readonly is: 'own' | 'caller' | 'other';
}

/** Notes a column that is read in a row, and whether its values name callers. */
type Note = (row: Row, column?: string, isNaming?: boolean) => void;

function createNote(found: Found[]): Note {
  return ({ collection, is }, column, isNaming) => {
    if (is === 'own') return;
    const isCaller = is === 'caller';
    let crossing = found.find((known) => known.collection === collection && known.isCaller === isCaller);
    if (!crossing) {
      crossing = { collection, isCaller, fields: new Set(), naming: new Set() };
      found.push(crossing);
    }
    const field = [...membersOf(collection).values()].find((member) => member.column === column)?.field;
    if (field) crossing.fields.add(field.name);
    if (field && isNaming) crossing.naming.add(field.name);
  };
}

/** Visits an expression about the first row. The other rows are those around `exists`. */
function visit(expression: Resolved, rows: readonly Row[], note: Note): void {
  const visitEach = (items: readonly Resolved[]): void => {
    for (const item of items) visit(item, rows, note);
  };
  visitResolved(expression, {
    all: visitEach,
    any: visitEach,
    decided() {},
    nullTest: ({ operand }) => visitSource(operand, rows, note),
    comparison(test) {
      visitSource(test.left, rows, note, namesCaller(test.right, test));
      visitSource(test.right, rows, note, namesCaller(test.left, test));
    },
    exists({ from, condition }) {
      if (!('target' in from)) return visitColumn(from, rows, note);
      const row = { collection: from.target, is: 'other' } as const;
      note(row);
      if (from.guard) visit(from.guard, [row], note);
      if (condition) visit(condition, [row, ...rows], note);
    },
  });
}

/** Whether one side is the caller's `id` or `email`, so that a column on the other side names callers. */
function namesCaller(side: Source, { operator }: ResolvedComparison): boolean {
  if (operator !== '=' && operator !== 'in') return false;
  return (side.source === 'several' ? side.items : [side]).some(
    (item) => item.source === 'request' && item.part === 'auth' && (item.path[0] === 'id' || item.path[0] === 'email'),
  );
}

function visitSource(source: Source, rows: readonly Row[], note: Note, isNaming = false): void {
  if (source.source === 'several') for (const item of source.items) visitSource(item, rows, note, isNaming);
  else if (source.source === 'column') visitColumn(source, rows, note, isNaming);
  else if (source.source === 'caller') visitColumn(source.column, accountRows(source.account), note);
  else if (source.source === 'count') visitColumn(source.of, source.account ? accountRows(source.account) : rows, note);
}

const accountRows = (collection: Collection): readonly Row[] => [{ collection, is: 'caller' }];

function visitColumn(column: Column, rows: readonly Row[], note: Note, isNaming = false): void {
  const end = follow(column, rows, note);
  if (!end) return;
  note(end, column.column, isNaming && column.keys.length === 0);
  if (column.visibleIf) visit(column.visibleIf, [end], note);
}

/** Follows a path's relations to its last row. */
function follow({ hops, up }: Walk, rows: readonly Row[], note: Note): Row | undefined {
  return hops.reduce<Row | undefined>((from, hop) => from && visitHop(hop, from, note), rows[up]);
}

function visitHop({ link, target, guard, visibleIf }: Hop, from: Row, note: Note): Row {
  const row = { collection: target, is: 'other' } as const;
  const owner = link.via === 'relation' || link.via === 'list' ? from : row;
  note(row);
  note(owner, link.column);
  if (visibleIf) visit(visibleIf, [owner], note);
  if (guard) visit(guard, [row], note);
  return row;
}
