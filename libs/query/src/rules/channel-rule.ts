import type { Collection } from '@recordbus/schema';
import { readTokens } from '../language/lexer.ts';
import { memberCollection } from '../resolve/member-collection.ts';
import type { QuerySchema } from '../resolve/scope.ts';
import { compileExpression } from '../sql/expressions.ts';
import type { SqlTarget } from '../sql/sql-target.ts';
import { checkRule } from './check-rule.ts';

/** The macro for the channel's name, and the column that replaces it. Both have the same length. */
const channelMacro = '@channel';
export const channelColumn = '_channel';

const rows = memberCollection('channel', new Map([[channelColumn, { column: channelColumn, kind: 'text' }]]));

/**
 * Compiles a channel rule to an SQL condition on a row with the column `channelColumn`. Throws QueryError for an
 * invalid one.
 */
export const compileChannelRule = (
  text: string,
  { schema, caller }: { readonly schema: QuerySchema; readonly caller: Collection | undefined },
  into: SqlTarget,
): string => compileExpression(withColumn(text), { collection: rows, schema, audience: 'rule', caller }, into);

/** Checks a channel rule before it is saved. Throws QueryError for one that cannot be compiled. */
export const checkChannelRule = (
  text: string,
  given: { readonly schema: QuerySchema; readonly accounts: readonly Collection[] },
): void => checkRule(withColumn(text), { collection: rows, ...given });

/** Replaces the macro by the column's name, outside strings and comments. */
function withColumn(text: string): string {
  let result = text;
  for (const { kind, text: token, position } of readTokens(text))
    if (kind === 'macro' && (token === channelMacro || token.startsWith(`${channelMacro}:`)))
      result = result.slice(0, position) + channelColumn + result.slice(position + channelMacro.length);
  return result;
}
