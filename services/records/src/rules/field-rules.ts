import { type AppError, refusedMembers } from '@recordbus/errors';
import { type FieldAccess, fieldAccess, openFields } from '@recordbus/query';
import type { Collection } from '@recordbus/schema';
import { ruleRefusal } from './authorize.ts';
import type { RuleContext } from './rule-context.ts';

type Caller = Pick<RuleContext, 'principal' | 'schema' | 'passesRules'>;

/** What a collection's field view rules decide for the caller (fields §5.2). */
export const viewOf = (collection: Collection, caller: Caller): FieldAccess =>
  caller.passesRules ? openFields : fieldAccess('view', collection, caller.principal, caller.schema);

/** What a collection's field write rules decide for the caller (fields §5.5). */
export const writeOf = (collection: Collection, caller: Caller): FieldAccess =>
  caller.passesRules ? openFields : fieldAccess('write', collection, caller.principal, caller.schema);

/** Whether the rules leave every field open. */
export const isOpen = ({ closed, conditional }: FieldAccess): boolean => closed.size === 0 && conditional.size === 0;

/** The names in a body whose write rule must be evaluated for the caller. */
export const conditionalNames = (names: readonly string[], { conditional }: FieldAccess): readonly string[] =>
  conditional.size === 0 ? [] : names.filter((name) => conditional.has(name));

/** Throws 403 for a body with fields that the caller may never write. It needs no statement (fields §5.5). */
export function refuseClosedFields(body: Readonly<Record<string, unknown>>, access: FieldAccess, caller: Caller): void {
  if (access.closed.size === 0) return;
  const refused = Object.keys(body).filter((name) => access.closed.has(name));
  if (refused.length > 0) throw fieldRefusal(refused, caller);
}

/** The refusal for a body with fields that the caller may not write: 403, or 401 for a guest with an invalid token. */
export const fieldRefusal = (names: readonly string[], { principal }: Pick<Caller, 'principal'>): AppError =>
  refusedMembers(ruleRefusal(principal, "a field's rule does not allow it"), names);
