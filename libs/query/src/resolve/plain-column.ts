import { QueryError } from '../query-error.ts';
import { findColumn } from './path.ts';
import { type Column, passesSeveral } from './resolved.ts';
import type { Scope } from './scope.ts';

const path = /^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z0-9_]+)*$/;

/**
 * Finds the column for a path outside expressions, such as a sort term. `position` is its first character's. Throws
 * QueryError for a text that is not a path, for an unknown or hidden name, and for a path to several records.
 */
export function findPlainColumn(text: string, position: number, scope: Scope): Column {
  if (!path.test(text)) throw new QueryError(`${scope.collection.name} has no field ${JSON.stringify(text)}`, position);
  return refuseSeveral(findColumn(text.split('.'), position, scope), text, position);
}

/** Returns the column. Throws QueryError if it belongs to one of several records. */
export function refuseSeveral(column: Column, text: string, position: number): Column {
  if (passesSeveral(column)) throw new QueryError(`${JSON.stringify(text)} leads to several records`, position);
  return column;
}
