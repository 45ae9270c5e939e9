import { parse } from '../language/parser.ts';
import { resolve } from '../resolve/resolve.ts';
import type { Scope } from '../resolve/scope.ts';
import { compile } from './compile.ts';
import { type Excluded, excludedSql } from './excluded-sql.ts';
import { type SqlTarget, withCollation } from './sql-target.ts';

/**
 * Compiles a rule's or a filter's text to an SQL condition on the row at `into`, which is never null where it holds
 * (see `compile`). The empty text is not an expression: an empty filter is none (filters §1.1), an empty rule admits
 * admins only. Throws QueryError, which is 400 for a client and 422 for a rule.
 */
export const compileExpression = (text: string, scope: Scope, into: SqlTarget): string =>
  compile(resolve(parse(text), scope), withCollation(scope, into));

/** Compiles which rows an expression excludes, if one negated test decides (see `excludedSql`). Throws like `compileExpression`. */
export const compileExcluded = (text: string, scope: Scope, into: SqlTarget): Excluded | undefined =>
  excludedSql(resolve(parse(text), scope), withCollation(scope, into));
