import { parse } from '../language/parser.ts';
import { findOpposite } from '../resolve/opposite.ts';
import { resolve } from '../resolve/resolve.ts';
import type { Scope } from '../resolve/scope.ts';
import { compile } from './compile.ts';
import { type SqlTarget, withCollation } from './sql-target.ts';

/**
 * Compiles the text of a rule or a filter to an SQL condition on the row of `into`, which is never null where it holds
 * (see `compile`). The empty text is not an expression: an empty filter is none (filters §1.1), an empty rule admits
 * admins only. Throws QueryError, which is 400 for a client and 422 for a rule.
 */
export const compileExpression = (text: string, scope: Scope, into: SqlTarget): string =>
  compile(resolve(parse(text), scope), withCollation(scope, into));

/**
 * Compiles the condition that holds exactly where an expression does not, if the expression is one negated test: few rows
 * may satisfy it, and an index may find them. Undefined for any other expression. Throws like `compileExpression`.
 */
export function compileOpposite(text: string, scope: Scope, into: SqlTarget): string | undefined {
  const opposite = findOpposite(resolve(parse(text), scope));
  return opposite && compile(opposite, withCollation(scope, into));
}
