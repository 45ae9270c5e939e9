import {
  callerCollection,
  compileByCaller,
  compileExcluded,
  compileExpression,
  type Excluded,
  QueryError,
  type Scope,
  type SqlTarget,
} from '@recordbus/query';
import { isAdmin, rightsOf } from '@recordbus/request/key-rights';
import type { Collection, RuleName } from '@recordbus/schema';
import type { RuleContext } from './rule-context.ts';

/** The audience for the filters and sorts that the caller sends. */
export const audienceOf = ({ principal }: Pick<RuleContext, 'principal'>): 'admin' | 'client' =>
  isAdmin(principal) ? 'admin' : 'client';

/** The context that the SQL of expressions depends on, in addition to their texts. */
export type CompileContext = Pick<RuleContext, 'principal' | 'schema'>;

/** The scope for the caller's filter or sort. */
export const clientScope = (collection: Collection, { principal, schema }: CompileContext) => ({
  collection,
  schema,
  audience: audienceOf({ principal }),
  caller: callerCollection(principal, schema),
});

/**
 * Names the callers who share statement texts: admins, guests, each collection's accounts, and keys with the same
 * record scopes.
 */
export function callerKind({ principal }: Pick<RuleContext, 'principal'>): string {
  if (principal.type === 'user') return `user:${principal.collection}`;
  return principal.type === 'service' ? `service:${rightsOf(principal.scopes).recordScopes.join(' ')}` : principal.type;
}

/**
 * A collection's rule as a condition on the row of `into`, in SQL; false or null where it does not hold. A rule that
 * cannot be compiled, such as one whose fields another replica has just changed, is false.
 */
export const compileRule = (
  collection: Collection,
  action: RuleName,
  context: CompileContext,
  into: SqlTarget,
): string => compileCondition(collection.rules[action] ?? '', collection, context, into);

/** Compiles a rule that is not one of the collection's five. */
export const compileCondition = (
  rule: string,
  collection: Collection,
  context: CompileContext,
  into: SqlTarget,
): string => compileIfValid(collection, context, (scope) => compileExpression(rule, scope, into)) ?? 'false';

/** Selects the rows that the rule excludes, in SQL, if one negated test decides (see `excludedSql`). */
export const compileExcludedByRule = (
  collection: Collection,
  action: RuleName,
  context: CompileContext,
  into: SqlTarget,
): Excluded | undefined =>
  compileIfValid(collection, context, (scope) => compileExcluded(collection.rules[action] ?? '', scope, into));

/** The same as `compileRule`, split into conditions, at most one of which holds (see `compileByCaller`). */
export const compileRuleByCaller = (
  collection: Collection,
  action: RuleName,
  context: CompileContext,
  into: SqlTarget,
): readonly string[] =>
  compileIfValid(collection, context, (scope) => compileByCaller(collection.rules[action] ?? '', scope, into)) ?? [
    'false',
  ];

/** Compiles a rule; undefined if it is not valid now. */
function compileIfValid<T>(
  collection: Collection,
  context: CompileContext,
  compile: (scope: Scope) => T,
): T | undefined {
  try {
    return compile({ ...clientScope(collection, context), audience: 'rule' });
  } catch (error) {
    if (error instanceof QueryError) return undefined;
    throw error;
  }
}
