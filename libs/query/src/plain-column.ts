import { findColumn } from './path.ts';
import { QueryError } from './query-error.ts';
import type { Column } from './resolved.ts';
import type { Scope } from './scope.ts';

const path = /^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z0-9_]+)*$/;

/**
 * Finds the column of a path that is written alone, as in a sort. `position` is that of its first character. Throws
 * QueryError for a text that is no path, and for an unknown or hidden name.
 */
export function findPlainColumn(text: string, position: number, scope: Scope): Column {
  if (!path.test(text)) throw new QueryError(`${scope.collection.name} has no field ${JSON.stringify(text)}`, position);
  return findColumn(text.split('.'), position, scope);
}
