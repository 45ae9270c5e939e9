import type { RequestPath } from '../language/ast.ts';
import { UnknownName } from '../query-error.ts';
import type { Side } from './one-kind.ts';
import { findColumn } from './path.ts';
import { authValues } from './request-path.ts';
import type { Column } from './resolved.ts';
import type { Scope } from './scope.ts';
import { kindAfter, transformOf } from './transform.ts';

/**
 * Resolves `@request.auth.<path>` beyond the values that every caller has: a path from the caller's account row (rules
 * §4.1). Undefined for other request values. Throws QueryError for a hidden field and too many relations.
 */
export function findCallerColumn(operand: RequestPath, scope: Scope): Side | undefined {
  const { modifier, position } = operand;
  if (!isCallerPath(operand) || scope.audience !== 'rule') return undefined;
  const account = scope.caller;
  const column = findInAccount(operand, scope);
  if (!account || !column) return { type: 'absent', position };
  const transformed = { ...column, transform: transformOf(modifier, column, position) };
  const kind = kindAfter(transformed);
  return { type: 'known', source: { source: 'caller', account, column: transformed, kind }, kind, position };
}

/** Whether the path leads into the caller's account row. */
export const isCallerPath = ({ segments }: Pick<RequestPath, 'segments'>): boolean => {
  const [part, name = '', ...rest] = segments;
  return part === 'auth' && segments.length > 1 && !(rest.length === 0 && Object.hasOwn(authValues, name));
};

/**
 * The column that the path leads to; undefined if the caller has no account, or its collection lacks a name in the
 * path.
 */
export function findInAccount({ segments, position }: RequestPath, { schema, caller }: Scope): Column | undefined {
  if (!caller) return undefined;
  try {
    const inAccount = position + callerPrefix.length;
    return findColumn(segments.slice(1), inAccount, { collection: caller, schema, audience: 'rule' });
  } catch (error) {
    if (error instanceof UnknownName) return undefined;
    throw error;
  }
}

/** The text before the segments within the account. */
export const callerPrefix = '@request.auth.';
