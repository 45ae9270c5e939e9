import { parse } from '../language/parser.ts';
import { resolve } from '../resolve/resolve.ts';
import type { Scope } from '../resolve/scope.ts';
import { splitByCaller } from '../resolve/split-by-caller.ts';
import { compile } from './compile.ts';
import { type SqlTarget, withCollation } from './sql-target.ts';

/**
 * Compiles a rule to two conditions. If the rule holds, exactly one holds. For separate conditions PostgreSQL joins the
 * rows with the callers' rows by hash; it would check each pair for an OR between a part that reads the caller and one
 * that does not. Throws QueryError like `compileExpression`.
 */
export function compileByCaller(text: string, scope: Scope, into: SqlTarget): readonly [string, ...string[]] {
  const resolved = resolve(parse(text), scope);
  const place = withCollation(scope, into);
  const parts = splitByCaller(resolved);
  if (!parts) return [compile(resolved, place)];
  const everyone = compile(parts.everyone, place);
  return [everyone, `(${everyone} is not true and ${compile(parts.others, place)})`];
}
